/**
 * The checks of a connected account: what has to be right at Meta, so that messages are sent and webhooks arrive. The doctor runs
 * them for every account, `parley why` for one. Decides only: nothing is read here.
 */
import { formatTime } from '../../lib/format.ts'
import { findError } from '../../whatsapp/graph/errors.ts'
import type { ListedNumber } from '../../whatsapp/graph/listings.ts'
import type { ConnectionFacts, Fact } from '../connections/configure/inspect.ts'
import type { Connection } from '../connections/connections.ts'
import { dubious, fine, type Station, unseen, wrong } from './station.ts'

export interface AccountFacts {
  now: Date
  connection: Connection
  /** The number that is asked about; null for all of the account. */
  phoneNumberId: string | null
  callbackUrl: string
  /** Whether a callback at Meta is that of the app here. */
  isOurs(callbackUrl: string): boolean
  meta: ConnectionFacts
}

/** A check of an account, and how the doctor begins its line for the accounts that fail it. */
export interface AccountCheck {
  name: string
  failed: string
  passed: string
  run(facts: AccountFacts): Station | Station[]
}

const warningDays = 14

function checkToken({ meta: { token, numbers }, connection: { id }, now }: AccountFacts): Station {
  const remedy = `Create a new system user token at Meta (see docs/run/meta.md), then run: ./parley connection change ${id}`
  const consoleRemedy = 'Ask the operator to replace the access token of the account.'
  const text = 'WhatsApp does not accept the access token of the account. Messages are not sent.'
  // Other errors, such as a rate limit, say nothing about the token.
  if (numbers.kind === 'failed' && findError({ code: numbers.code ?? '' }).scope === 'credentials') {
    return wrong('access tokens', text, { remedy, consoleRemedy, details: [numbers.why] })
  }
  if (token.kind === 'failed') {
    // Not all tokens may be inspected. One that lists the numbers of the account is accepted.
    return numbers.kind === 'failed'
      ? notChecked('access tokens', numbers)
      : fine('access tokens', 'WhatsApp accepts the access token.')
  }
  const { isValid, problem, missingScopes, expiresAt } = token.value
  if (!isValid) return wrong('access tokens', text, { remedy, consoleRemedy, details: problem ? [problem] : [] })
  if (missingScopes.length > 0) {
    const lacking = `The access token lacks the permission ${missingScopes.join(' and ')}.`
    return wrong('access tokens', lacking, { remedy, consoleRemedy })
  }
  if (token.value.isForeign) {
    const foreign =
      'The access token belongs to another Meta app. With it, Parley cannot subscribe the app of the account.'
    return wrong('access tokens', foreign, { remedy, consoleRemedy })
  }
  if (!expiresAt) {
    const end = expiresAt === null ? ' and does not expire' : ''
    return fine('access tokens', `The access token is valid${end}.`)
  }
  const isSoon = expiresAt.getTime() - now.getTime() < warningDays * 86_400_000
  const until = `The access token is valid until ${formatTime(expiresAt)}.`
  return isSoon
    ? dubious('access tokens', until, { remedy, consoleRemedy, isAdvice: true })
    : fine('access tokens', until)
}

const byOperator = 'Ask the operator to fix it: ./parley why SENDER --fix'

function checkSubscription({ meta: { account }, connection }: AccountFacts): Station {
  const { id, wabaId } = connection
  if (account.kind === 'failed') return notChecked('subscriptions', account)
  if (account.value.isSubscribed) return fine('subscriptions', `The app is subscribed to account ${wabaId}.`)
  return wrong('subscriptions', `The app is not subscribed to account ${wabaId}. No webhooks arrive.`, {
    remedy: `Run: ./parley why ${wabaId} --fix`,
    consoleRemedy: byOperator,
    fix: { kind: 'subscribe_app', connectionId: id },
  })
}

/** WhatsApp's error for the token of an app, which is its ID and its secret. */
const invalidToken: ReadonlySet<unknown> = new Set([101, 190])

function checkFields({ meta: { subscription }, connection, isOurs }: AccountFacts): Station {
  const { id, wabaId, appId } = connection
  if (subscription.kind === 'failed') {
    if (!invalidToken.has(subscription.code)) return notChecked('webhook fields', subscription)
    return wrong('webhook fields', 'Meta rejects the app secret. Parley rejects the signatures of its webhooks.', {
      remedy: `Copy the app secret from the app’s basic settings at Meta, then run: ./parley app change ${appId} --app-secret -`,
      consoleRemedy: 'Ask the operator to replace the app secret.',
      details: [subscription.why],
    })
  }
  const { missing } = subscription.value
  if (missing.length === 0)
    return fine('webhook fields', 'The app is subscribed to every webhook field that Parley reads.')
  const text = missing.includes('messages')
    ? 'The app is not subscribed to the webhook field "messages". No messages and statuses arrive.'
    : 'The app is not subscribed to some webhook fields. Their changes do not arrive.'
  return (missing.includes('messages') ? wrong : dubious)('webhook fields', text, {
    remedy: `Run: ./parley why ${wabaId} --fix`,
    consoleRemedy: byOperator,
    details: [`Missing: ${missing.join(', ')}`],
    isAdvice: !missing.includes('messages'),
    // Subscribing sets the callback too, so another one would be overwritten.
    fix: isOurs(subscription.value.callbackUrl ?? '') ? { kind: 'subscribe_fields', connectionId: id } : null,
  })
}

interface Way {
  who: string
  url: string | null
  /** What the operator can do. */
  what: string
}

/**
 * Messages and statuses are sent to the callback of the number, else to that of the account, else to that of the app. All other
 * webhooks are sent to that of the app.
 */
function checkCallbacks(facts: AccountFacts): Station | Station[] {
  const { meta, callbackUrl, isOurs, connection } = facts
  const { token, subscription, account, numbers } = meta
  const app = subscription.kind === 'ok' ? wayOfApp(subscription.value.callbackUrl) : null
  const ofAccount = account.kind === 'ok' ? wayOf(`Account ${connection.wabaId}`, 'account', account.value) : null
  const shared = ofAccount ?? (account.kind === 'ok' ? app : null)
  const ways = numbersOf(facts).map((number) => wayOf(`The number ${number.phoneNumber}`, 'number', number) ?? shared)
  const metaAppId = (token.kind === 'ok' && token.value.metaAppId) || 'ID'
  const found = [...new Set(ways.length > 0 ? ways : [shared])].flatMap((way) =>
    way === null || isOurs(way.url ?? '')
      ? []
      : [
          wrong('callbacks', `${way.who}. Its webhooks do not arrive.`, {
            remedy: `If no other service needs that URL, run: ./parley app create --app-id ${metaAppId} --app-secret - --access-token - --replace-callback`,
            consoleRemedy: `Ask the operator to ${way.what}.`,
            details: [`${way.url ?? 'No URL'} instead of ${callbackUrl}`],
          }),
        ],
  )
  if (found.length > 0) return found
  const unread = [subscription, account, numbers].find(({ kind }) => kind === 'failed')
  if (unread?.kind === 'failed') return notChecked('callbacks', unread)
  if (app === null || isOurs(app.url ?? '')) return fine('callbacks', 'Webhooks are sent to Parley.')
  const text = 'Messages and statuses are sent to Parley. Notices about templates and the account are sent elsewhere.'
  return dubious('callbacks', text, { details: [app.url ?? 'No URL'], isAdvice: true })
}

const wayOfApp = (url: string | null): Way => ({
  who: `The app ${url ? 'has another' : 'has no'} callback URL`,
  url,
  what: 'set the callback URL in the app at Meta',
})

const wayOf = (who: string, at: string, { overrideUrl }: { overrideUrl: string | null }): Way | null =>
  overrideUrl === null
    ? null
    : { who: `${who} overrides the callback URL`, url: overrideUrl, what: `remove the override of the ${at} at Meta` }

const numbersOf = ({ meta: { numbers }, phoneNumberId: id }: AccountFacts): ListedNumber[] =>
  numbers.kind === 'ok' ? numbers.value.filter(({ phoneNumberId }) => id === null || phoneNumberId === id) : []

const unregistered: ReadonlySet<string> = new Set(['PENDING', 'DISCONNECTED', 'UNVERIFIED'])

function checkNumbers(facts: AccountFacts): Station | Station[] {
  const { meta, phoneNumberId, connection } = facts
  if (meta.numbers.kind === 'failed') return notChecked('numbers', meta.numbers)
  const numbers = numbersOf(facts)
  if (numbers.length === 0) {
    if (phoneNumberId === null) return fine('numbers', 'The account has no numbers yet.')
    const remedy = 'Add the number to the account in Meta’s WhatsApp Manager, then sync the account.'
    return wrong('numbers', `Meta does not list the number in account ${connection.wabaId}.`, { remedy })
  }
  const found = numbers.flatMap(numberStations)
  return found.length > 0 ? found : [fine('numbers', 'The number is registered.')]
}

function numberStations({ phoneNumber, status, hasPin }: ListedNumber): Station | Station[] {
  if (unregistered.has(status)) {
    const text = `The number ${phoneNumber} is not registered (status ${status}). It cannot send or receive.`
    const remedy = `Run: ./parley sender register ${phoneNumber} --pin -`
    return wrong('numbers', text, { remedy, consoleRemedy: 'Register the number under Messaging → Senders.' })
  }
  if (status === 'UNKNOWN') return unseen('numbers', `Meta does not say whether ${phoneNumber} is registered.`)
  if (status !== 'CONNECTED') {
    const remedy = 'Open the number in Meta’s WhatsApp Manager, which says why.'
    return wrong('numbers', `Meta reports the number ${phoneNumber} as ${status}. It cannot send.`, { remedy })
  }
  if (hasPin !== false) return []
  return dubious('numbers', `The number ${phoneNumber} has no two-step PIN. Others could register it elsewhere.`, {
    remedy: `Run: ./parley sender pin ${phoneNumber} --pin -`,
    consoleRemedy: 'Set a PIN under Messaging → Senders.',
    isAdvice: true,
  })
}

const notChecked = (name: string, { why }: Extract<Fact<unknown>, { kind: 'failed' }>): Station =>
  unseen(name, 'This could not be checked at Meta.', { details: [why] })

/** In the order of the way of a webhook. */
export const accountChecks: readonly AccountCheck[] = [
  {
    name: 'access tokens',
    failed: 'The access token needs attention for',
    passed: 'WhatsApp accepts the tokens of all accounts, and none expires within two weeks.',
    run: checkToken,
  },
  {
    name: 'subscriptions',
    failed: 'The app is not subscribed to',
    passed: 'Every account sends webhooks to its app.',
    run: checkSubscription,
  },
  {
    name: 'webhook fields',
    failed: 'Webhook fields are missing or unknown for',
    passed: 'Every app is subscribed to the webhook fields that Parley reads.',
    run: checkFields,
  },
  {
    name: 'callbacks',
    failed: 'Webhooks are sent elsewhere for',
    passed:
      'Every app, account and number sends webhooks to Parley. Parley cannot see development mode, in which Meta does not send all of them.',
    run: checkCallbacks,
  },
  {
    name: 'numbers',
    failed: 'Numbers need attention in',
    passed: 'Every number is registered.',
    run: checkNumbers,
  },
]
