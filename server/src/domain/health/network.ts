import { randomBytes } from 'node:crypto'
import type { AddressRange } from '../../lib/addresses.ts'
import { ingressPath, listApps, usualGraphUrl } from '../connections/apps.ts'
import { listConnections } from '../connections/connections.ts'
import { wordsOf } from '../connections/failure.ts'
import type { Network } from '../connections/network.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

/** Where the installation says it is. */
export interface Site {
  publicUrl: string
  trustProxy: readonly AddressRange[]
}

/** Fetches a page, within a few seconds; throws if it cannot be had. */
export type Get = (url: string) => Promise<{ status: number; text: string }>

type Progress = (done: number, all: number) => void

/** Asks the network, with each account's token, for the account's numbers. */
export async function checkCredentials({ db, client, vault }: Network, onProgress: Progress): Promise<Finding> {
  const all = await listConnections(db)
  if (all.length === 0) return ok('access tokens', 'No account is connected yet.')
  const faults: string[] = []
  for (const [index, { id, wabaId }] of all.entries()) {
    onProgress(index, all.length)
    const fault = await faultOf(async () => {
      const access = await vault.accessFor(id)
      if (!access) return 'it is gone'
      const outcome = await client.listPhoneNumbers(access, wabaId)
      return outcome.kind === 'ok' ? null : wordsOf(outcome, access)
    })
    if (fault) faults.push(`${id} (account ${wabaId}): ${fault}`)
  }
  if (faults.length === 0)
    return ok('access tokens', `The network takes the tokens of ${count(all.length, 'account')}.`)
  return problem('access tokens', `${faults.length} of ${count(all.length, 'account')} cannot be used.`, {
    details: faults,
    means: 'Messages from these accounts’ numbers are not sent.',
    advice: 'Make a new system user token at Meta (docs/connecting-meta.md), then: npx parley connection change ID',
  })
}

/** Does what the network does when a callback is entered: the handshake, at the address that it is told. */
export async function checkIngress({ db, vault }: Network, { publicUrl }: Site, get: Get): Promise<Finding> {
  const apps = await listApps(db)
  if (apps.length === 0) return ok('ingress', 'There is no app yet that the network could call us for.')
  const faults: string[] = []
  for (const { id, name } of apps) {
    const fault = await faultOf(async () => {
      const app = await vault.openApp(id)
      const challenge = randomBytes(8).toString('hex')
      const query = new URLSearchParams({
        'hub.mode': 'subscribe',
        'hub.verify_token': app?.verifyToken ?? '',
        'hub.challenge': challenge,
      })
      const { status, text } = await get(`${publicUrl}${ingressPath(id)}?${query}`)
      return status === 200 && text === challenge ? null : `answered ${status}, without the challenge`
    })
    if (fault) faults.push(`${publicUrl}${ingressPath(id)} (${name}): ${fault}`)
  }
  const real = apps.some(({ graphUrl }) => graphUrl === usualGraphUrl)
  if (faults.length > 0) {
    return (real ? problem : warning)(
      'ingress',
      `${faults.length} of ${count(apps.length, 'callback')} cannot be reached.`,
      {
        details: faults,
        means:
          'The network cannot tell us of messages and statuses. It repeats what it could not deliver for some days.',
        advice:
          'Start the service, see that PUBLIC_URL leads to it from outside, and that a proxy passes /network/ on unchanged.',
      },
    )
  }
  if (real && !publicUrl.startsWith('https:')) {
    return warning('ingress', `PUBLIC_URL is ${publicUrl}, which is not https.`, {
      means: 'Meta takes https addresses only.',
      advice: 'Put a proxy with a certificate before the service, and set PUBLIC_URL to its address.',
    })
  }
  return ok('ingress', `The handshake succeeds at ${count(apps.length, 'callback')} below ${publicUrl}.`)
}

export function checkProxies({ publicUrl, trustProxy }: Site): Finding {
  const wide = trustProxy.filter(({ bits }) => bits === 0).map(({ text }) => text)
  if (wide.length > 0) {
    return problem('proxies', `PARLEY_TRUST_PROXY has ${wide.join(', ')}: everybody is believed.`, {
      means: 'Anybody can pretend to call from any address, past the keys’ lists of addresses and the budgets.',
      advice: 'Set PARLEY_TRUST_PROXY to the addresses of your own proxies alone.',
    })
  }
  if (publicUrl.startsWith('https:') && trustProxy.length === 0) {
    return warning('proxies', 'PUBLIC_URL is https, so a proxy stands before us, but PARLEY_TRUST_PROXY is not set.', {
      means: 'Every request seems to come from the proxy: lists of addresses and the budget of strangers apply to it.',
      advice: 'Set PARLEY_TRUST_PROXY to the proxy’s address, such as 127.0.0.1/32.',
    })
  }
  return ok(
    'proxies',
    trustProxy.length > 0
      ? `Believed: ${trustProxy.map(({ text }) => text).join(', ')}.`
      : 'None is believed, none is needed.',
  )
}

async function faultOf(look: () => Promise<string | null>): Promise<string | null> {
  try {
    return await look()
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } }
    return cause?.code ? `${message} (${cause.code})` : message
  }
}
