import { randomBytes } from 'node:crypto'
import type { AddressRange } from '../../net/addresses.ts'
import { defaultGraphUrl, ingressPath, listApps } from '../connections/apps.ts'
import type { Network } from '../connections/network.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

export interface Site {
  publicUrl: string
  trustProxy: readonly AddressRange[]
}

/** Fetches a URL, with a timeout of a few seconds; throws if that fails. */
export type Get = (url: string) => Promise<{ status: number; text: string }>

/** Performs the handshake that Meta performs when a callback URL is saved, at each app's public callback URL. */
export async function checkIngress({ db, vault }: Network, { publicUrl }: Site, get: Get): Promise<Finding> {
  const apps = await listApps(db)
  if (apps.length === 0) return ok('ingress', 'No apps yet, so there are no callback URLs to check.')
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
      return status === 200 && text === challenge ? null : `responded with status ${status}, without the challenge`
    })
    if (fault) faults.push(`${publicUrl}${ingressPath(id)} (${name}): ${fault}`)
  }
  const real = apps.some(({ graphUrl }) => graphUrl === defaultGraphUrl)
  if (faults.length > 0) {
    return (real ? problem : warning)(
      'ingress',
      `${faults.length} of ${count(apps.length, 'callback URL')} failed the handshake.`,
      {
        details: faults,
        effect: 'WhatsApp cannot deliver messages and statuses to Parley. It retries for some days.',
        remedy:
          'Check that Parley is running, that PUBLIC_URL reaches it from the internet, and that your proxy forwards /network/ unchanged.',
      },
    )
  }
  if (real && !publicUrl.startsWith('https:')) {
    return warning('ingress', `PUBLIC_URL is ${publicUrl}, which is not an https URL.`, {
      effect: 'Meta accepts only https callback URLs.',
      remedy: 'Put a TLS proxy in front of Parley and set PUBLIC_URL to its https URL.',
    })
  }
  return ok('ingress', `The handshake succeeds at ${count(apps.length, 'callback URL')} under ${publicUrl}.`)
}

export function checkProxies({ publicUrl, trustProxy }: Site): Finding {
  const everyAddress = trustProxy.filter(({ bits }) => bits === 0).map(({ text }) => text)
  if (everyAddress.length > 0) {
    return problem('proxies', `PARLEY_TRUST_PROXY trusts every address (${everyAddress.join(', ')}).`, {
      effect: 'Any client can fake its IP address, and so bypass IP allowlists and rate limits.',
      remedy: 'Set PARLEY_TRUST_PROXY to the addresses of your own proxies only.',
    })
  }
  if (publicUrl.startsWith('https:') && trustProxy.length === 0) {
    return warning(
      'proxies',
      'PUBLIC_URL is https, so there is a proxy in front of Parley, but PARLEY_TRUST_PROXY is not set.',
      {
        effect:
          'Every request seems to come from the proxy’s address, so IP allowlists and per-address rate limits apply to the proxy, not to the client.',
        remedy: 'Set PARLEY_TRUST_PROXY to the address of the proxy, for example 127.0.0.1/32.',
      },
    )
  }
  return ok(
    'proxies',
    trustProxy.length > 0
      ? `Trusted proxies: ${trustProxy.map(({ text }) => text).join(', ')}.`
      : 'No trusted proxies are set, and none are needed.',
  )
}

/** The problem that `attempt` returns, or its error message if it throws; null if there is none. */
export async function faultOf(attempt: () => Promise<string | null>): Promise<string | null> {
  try {
    return await attempt()
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } }
    return cause?.code ? `${message} (${cause.code})` : message
  }
}
