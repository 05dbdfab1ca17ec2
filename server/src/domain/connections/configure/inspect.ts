import type { CallOutcome } from '../../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../../whatsapp/graph/client.ts'
import type { ListedNumber } from '../../../whatsapp/graph/listings.ts'
import { managementScope, messagingScope, type SubscribedApp, type TokenFacts } from '../../../whatsapp/graph/setup.ts'
import { fieldReaders } from '../../../whatsapp/incoming/incoming.ts'
import { type App, ingressPath, isLoopbackUrl, requireApp } from '../apps.ts'
import { requireConnection } from '../connections.ts'
import { describeFailure } from '../describe-failure.ts'
import type { Network } from '../network.ts'

/** Something that the network says about a set-up, or why it could not be read. */
export type Fact<T> =
  | { kind: 'ok'; value: T }
  /** `code` is WhatsApp's error; null if it sent none. */
  | { kind: 'failed'; why: string; code: number | string | null }

/** An app and an account at Meta, and the secrets to ask about them. */
export interface Setup {
  graphUrl: string
  metaAppId: string
  appSecret: string
  accessToken: string
}

export interface TokenCheck extends TokenFacts {
  /** The permissions that Parley needs and the token lacks. */
  missingScopes: string[]
  /** Whether it belongs to another Meta app than that of the connection. */
  isForeign?: boolean
}

export interface SubscriptionCheck {
  /** Null: the app has no callback. */
  callbackUrl: string | null
  isActive: boolean
  fields: string[]
  /** The fields that Parley understands and the app is not subscribed to. */
  missing: string[]
}

export interface AccountCheck {
  /** Whether the app gets the account's webhooks. */
  isSubscribed: boolean
  /** The callback that the account has in place of the app's. */
  overrideUrl: string | null
}

/** What Meta says about a connection. Whether an app is in development mode cannot be read. */
export interface ConnectionFacts {
  token: Fact<TokenCheck>
  subscription: Fact<SubscriptionCheck>
  account: Fact<AccountCheck>
  /** With the callback that each has in place of the app's. */
  numbers: Fact<ListedNumber[]>
}

/** Every webhook field that Parley understands. */
export const webhookFields: readonly string[] = [...fieldReaders.keys()]

const neededScopes = [managementScope, messagingScope]

/** The access of an app to itself: its token is its ID and its secret. */
export const tokenOfApp = ({ graphUrl, metaAppId, appSecret }: Setup): GraphAccess => ({
  graphUrl,
  accessToken: `${metaAppId}|${appSecret}`,
})

export const tokenOfAccount = ({ graphUrl, accessToken }: Setup): GraphAccess => ({ graphUrl, accessToken })

/** Whether a callback at Meta is that of an app. The simulated network may have it under another name of this machine. */
export function isCallbackOf(app: Pick<App, 'id' | 'graphUrl'>, publicUrl: string, callbackUrl: string): boolean {
  const path = ingressPath(app.id)
  if (callbackUrl === publicUrl + path) return true
  return isLoopbackUrl(app.graphUrl) && URL.canParse(callbackUrl) && new URL(callbackUrl).pathname === path
}

/** What Meta says about a stored connection: its token, its app's callback and fields, and the overrides. */
export async function inspectConnection(network: Network, connectionId: string): Promise<ConnectionFacts> {
  const { db, vault } = network
  const { appId, wabaId } = await requireConnection(db, connectionId)
  const [app, opened, access] = await Promise.all([
    requireApp(db, appId),
    vault.openApp(appId),
    vault.accessFor(connectionId),
  ])
  if (!opened || !access) throw new Error(`connection ${connectionId} not found`)
  const { graphUrl, accessToken } = access
  // A token belongs to an app, so it also tells the ID of an app that was registered without one.
  const own = await inspectToken(network, access, accessToken)
  const owner = own.kind === 'ok' ? own.value.metaAppId : null
  const metaAppId = app.metaAppId ?? owner
  if (own.kind === 'ok') own.value.isForeign = owner !== null && owner !== metaAppId
  if (metaAppId === null) {
    const why = 'Meta does not say which app the access token belongs to.'
    const unknown = { kind: 'failed', why, code: null } as const
    const numbers = await inspectNumbers(network, access, wabaId)
    return { token: own, subscription: unknown, account: unknown, numbers }
  }
  const setup = { graphUrl, metaAppId, appSecret: opened.appSecret, accessToken }
  const [subscription, account, numbers] = await Promise.all([
    inspectSubscription(network, setup),
    inspectAccount(network, setup, wabaId),
    inspectNumbers(network, access, wabaId),
  ])
  return { token: own, subscription, account, numbers }
}

/** Asks with `access`, which is the app's or the token's own. */
export async function inspectToken(
  { client }: Network,
  access: GraphAccess,
  accessToken: string,
): Promise<Fact<TokenCheck>> {
  return factOf(await client.inspectToken(access, accessToken), access, (token) => ({
    ...token,
    missingScopes: neededScopes.filter((scope) => !token.scopes.includes(scope)),
  }))
}

export async function inspectSubscription({ client }: Network, setup: Setup): Promise<Fact<SubscriptionCheck>> {
  const access = tokenOfApp(setup)
  return factOf(await client.readSubscription(access, setup.metaAppId), access, (found) => {
    const fields = found?.fields ?? []
    const missing = webhookFields.filter((field) => !fields.includes(field))
    return { callbackUrl: found?.callbackUrl ?? null, isActive: found?.isActive ?? false, fields, missing }
  })
}

export async function inspectAccount({ client }: Network, setup: Setup, wabaId: string): Promise<Fact<AccountCheck>> {
  const access = tokenOfAccount(setup)
  return factOf(await client.listSubscribedApps(access, wabaId), access, (apps: SubscribedApp[]) => {
    const ours = apps.find(({ metaAppId }) => metaAppId === setup.metaAppId)
    return { isSubscribed: ours !== undefined, overrideUrl: ours?.overrideUrl ?? null }
  })
}

export async function inspectNumbers(
  { client }: Network,
  access: GraphAccess,
  wabaId: string,
): Promise<Fact<ListedNumber[]>> {
  return factOf(await client.listPhoneNumbers(access, wabaId), access, (numbers) => numbers)
}

export function factOf<T, U>(outcome: CallOutcome<T>, access: GraphAccess, read: (value: T) => U): Fact<U> {
  if (outcome.kind === 'ok') return { kind: 'ok', value: read(outcome.value) }
  const code = outcome.kind === 'refused' ? outcome.error.code : null
  return { kind: 'failed', why: describeFailure(outcome, access), code }
}
