import { formatTime } from '../../../lib/format.ts'
import { type App, ingressPath, isLoopbackUrl, setMetaAppId, storeApp } from '../apps.ts'
import { type Connection, storeConnection } from '../connections.ts'
import { describeFailure } from '../describe-failure.ts'
import type { Network } from '../network.ts'
import { replaceAppSecrets, storeAccessToken } from '../replace-secrets.ts'
import type { SyncOutcome } from '../sync.ts'
import { isCallbackOf, tokenOfAccount, tokenOfApp, webhookFields } from './inspect.ts'
import type { Prepared } from './prepare.ts'
import { subscribeOffered } from './subscribe.ts'

export const stepNames = ['app', 'token', 'webhook', 'connection', 'subscription', 'numbers'] as const

/** One part of a set-up: what was found, what is wanted, and how to get there. */
export interface Step {
  step: (typeof stepNames)[number]
  found: string
  /** What it is or was changed to. */
  wanted: string
  /** `conflict`: something else was set on purpose, so it is replaced only if that is wanted. */
  verdict: 'ok' | 'would_change' | 'conflict' | 'failed'
  remedy: string | null
  /** Returns an error message, or nothing. May change `wanted` to what it achieved, and set a remedy. */
  apply?: () => Promise<string | undefined>
  /** Applied even if it is right. */
  always?: true
}

/** What the steps have stored so far. */
export interface Stored {
  app: App | undefined
  /** Whether this run has stored the app, and Meta cannot have its callback: then it is removed if the callback fails. */
  isAppUnused: boolean
  connection: Connection | undefined
}

interface Plan {
  network: Network
  there: Prepared
  publicUrl: string
  done: Stored
  /** Writes the audit entry, in the transaction that stores the app. */
  audit: (tx: Network['db'], app: App) => Promise<void>
}

/** In the order in which they are applied: nothing is stored before the callback has passed Meta's handshake, except the app itself. */
export const stepsOf = (plan: Plan): Step[] => [
  appStep(plan),
  tokenStep(plan),
  webhookStep(plan),
  connectionStep(plan),
  subscriptionStep(plan),
  numbersStep(plan),
]

function appStep({ network, there, done, audit }: Plan): Step {
  const { setup, stored, isStoredRight, newApp } = there
  const named = `${newApp.name} (${setup.metaAppId})`
  return {
    step: 'app',
    found: stored ? `${named}, stored` : `${named}, not stored yet`,
    wanted: stored ? 'stored with this ID and secret' : 'stored with its secret',
    verdict: isStoredRight ? 'ok' : 'would_change',
    remedy: null,
    // It writes the audit entry of the whole set-up.
    always: true,
    async apply() {
      const { db, clock, secretKeys } = network
      await db.transaction(async (tx) => {
        const { app, isNew } = stored ? { app: stored, isNew: false } : await storeApp(tx, clock, secretKeys, newApp)
        if (stored && !isStoredRight) {
          await replaceAppSecrets(tx, secretKeys, app.id, { appSecret: setup.appSecret })
          await setMetaAppId(tx, app.id, setup.metaAppId)
        }
        await audit(tx, app)
        Object.assign(done, { app, isAppUnused: isNew })
      })
      return undefined
    },
  }
}

function tokenStep({ network, there: { token } }: Plan): Step {
  const { expiresAt } = token
  const isSoon = expiresAt && expiresAt.getTime() - network.clock.now().getTime() < 14 * 86_400_000
  const until = expiresAt ? `expires on ${formatTime(expiresAt)}` : 'does not expire'
  return {
    step: 'token',
    found: `valid, ${until}`,
    wanted: 'valid, with both permissions',
    verdict: 'ok',
    remedy: isSoon ? 'Generate a token of a system user that does not expire.' : null,
  }
}

/** Whether a callback at Meta is that of the app here. */
const isOursIn =
  ({ there: { stored }, publicUrl }: Plan) =>
  (url: string | null): boolean =>
    stored !== undefined && url !== null && isCallbackOf(stored, publicUrl, url)

/** Whether every number has a callback of its own, and it is that of the app here. */
const areNumbersOurs = (plan: Plan): boolean =>
  plan.there.numbers.length > 0 && plan.there.numbers.every(({ overrideUrl }) => isOursIn(plan)(overrideUrl))

function webhookStep(plan: Plan): Step {
  const { network, there, publicUrl, done } = plan
  const { setup, stored, subscription, isCallbackUnused, account } = there
  const { callbackUrl, isActive, fields, missing } = subscription
  const urlOf = (app: App | undefined) => publicUrl + ingressPath(app?.id ?? '…')
  const isOurs = isOursIn(plan)(callbackUrl)
  const isReachable = publicUrl.startsWith('https:') || isLoopbackUrl(setup.graphUrl)
  // Meta uses the callback of the number for messages, else that of the account, else that of the app.
  const arrives =
    isActive && fields.includes('messages') && (isOursIn(plan)(account.overrideUrl) || areNumbersOurs(plan))
  const other = callbackUrl === null || isOurs || isCallbackUnused ? null : callbackUrl
  const isRight = isOurs ? isActive && missing.length === 0 : other !== null && arrives
  return {
    step: 'webhook',
    found: callbackUrl
      ? `callback ${callbackUrl}, ${countOf(missing, webhookFields)}${isActive ? '' : ', not active'}`
      : 'no callback',
    wanted: `callback ${urlOf(stored)}, ${webhookFields.length} fields`,
    verdict: isRight ? 'ok' : !isReachable ? 'failed' : other ? 'conflict' : 'would_change',
    remedy: isRight
      ? other && 'Messages arrive here all the same. Notices about templates and the account do not.'
      : !isReachable
        ? 'Meta accepts only a public https URL. Set PUBLIC_URL to the public address of this installation.'
        : other &&
          `Another service receives the webhooks of this app at ${other}. Replace it only if you want that to end.`,
    async apply() {
      const access = tokenOfApp(setup)
      const opened = done.app && (await network.vault.openApp(done.app.id))
      this.wanted = `callback ${urlOf(done.app)}, ${webhookFields.length} fields`
      const outcome = await subscribeOffered(network.client, access, setup.metaAppId, {
        callbackUrl: urlOf(done.app),
        verifyToken: opened?.verifyToken ?? '',
        // Fields that are subscribed and not understood stay: they are stored and published as they are.
        fields: [...new Set([...(other ? [] : fields), ...webhookFields])],
      })
      if (outcome.kind === 'ok') {
        const refused = outcome.value
        const offered = webhookFields.filter((field) => !refused.includes(field))
        this.wanted = `callback ${urlOf(done.app)}, ${offered.length} fields`
        if (refused.length > 0) this.remedy = `Meta does not offer the app the webhook fields ${refused.join(', ')}.`
        return undefined
      }
      if (outcome.kind === 'unknown') done.isAppUnused = false
      return describeFailure(outcome, access)
    },
  }
}

/** All of them, or how many of them. */
const countOf = (missing: readonly string[], all: readonly string[]) =>
  missing.length === 0 ? `${all.length} fields` : `${all.length - missing.length} of ${all.length} fields`

function connectionStep({ network, there, done }: Plan): Step {
  const { connection, isTokenStored, workspaceId, workspaceName, wabaId, setup } = there
  // If later syncs fail, the service repeats them.
  const isRight = isTokenStored && connection?.syncedAt != null
  return {
    step: 'connection',
    found: connection
      ? `account ${wabaId} in ${workspaceName}${isTokenStored ? '' : ', with another access token'}${connection.syncedAt ? '' : ', not synced yet'}`
      : `account ${wabaId}, not connected`,
    wanted: connection ? 'synced with this access token' : `connected to ${workspaceName}`,
    verdict: isRight ? 'ok' : 'would_change',
    remedy: null,
    async apply() {
      const { accessToken } = setup
      const saved = connection
        ? await storeAccessToken(network, connection, accessToken)
        : await storeConnection(network, { workspaceId, appId: done.app?.id ?? '', wabaId, accessToken })
      done.connection = saved.connection
      this.wanted += describeSync(saved.sync)
      if (saved.sync.kind === 'failed') this.remedy = `The service tries the sync again: ${saved.sync.why}`
      return undefined
    },
  }
}

const describeSync = (sync: SyncOutcome): string =>
  sync.kind === 'synced'
    ? `: ${plural(sync.senders, 'sender')}, ${plural(sync.templates, 'template')}${sync.remark ? `. ${sync.remark}` : ''}`
    : ''

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function subscriptionStep(plan: Plan): Step {
  const { network, there } = plan
  const { setup, wabaId, account } = there
  const { isSubscribed, overrideUrl } = account
  const isOther = overrideUrl !== null && !isOursIn(plan)(overrideUrl)
  const isConflict = isOther && !areNumbersOurs(plan)
  return {
    step: 'subscription',
    found: isSubscribed
      ? `account ${wabaId} sends to the app${isOther ? `, at its own callback ${overrideUrl}` : ''}`
      : `account ${wabaId} does not send to the app`,
    wanted: `account ${wabaId} sends to the app`,
    verdict: isConflict ? 'conflict' : isSubscribed ? 'ok' : 'would_change',
    remedy: isConflict
      ? `The account sends its messages to ${overrideUrl}. Replace it only if you want that to end.`
      : null,
    async apply() {
      const access = tokenOfAccount(setup)
      // Without a body, it also removes the callback of the account.
      const outcome = await network.client.subscribeApp(access, wabaId)
      return outcome.kind === 'ok' ? undefined : describeFailure(outcome, access)
    },
  }
}

function numbersStep(plan: Plan): Step {
  const { network, there } = plan
  const { setup, numbers } = there
  const others = numbers.filter(({ overrideUrl }) => overrideUrl !== null && !isOursIn(plan)(overrideUrl))
  const counted = plural(numbers.length, 'phone number')
  const list = others.map(({ phoneNumber, overrideUrl }) => `+${phoneNumber} at ${overrideUrl}`).join(', ')
  return {
    step: 'numbers',
    found: others.length === 0 ? counted : `${counted}, with callbacks of their own: ${list}`,
    wanted: 'all of them send to the app’s callback',
    verdict: others.length > 0 ? 'conflict' : 'ok',
    remedy:
      others.length > 0
        ? 'These numbers send their messages elsewhere. Replace it only if you want that to end.'
        : null,
    async apply() {
      const access = tokenOfAccount(setup)
      for (const { phoneNumberId } of others) {
        const outcome = await network.client.removeNumberCallback(access, phoneNumberId)
        if (outcome.kind !== 'ok') return describeFailure(outcome, access)
      }
      return undefined
    },
  }
}
