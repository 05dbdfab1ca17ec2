import { randomBytes } from 'node:crypto'
import { refuse, refuseIfAny, refuseParam } from '../../../lib/refuse.ts'
import type { ListedNumber } from '../../../whatsapp/graph/listings.ts'
import { requireWorkspace } from '../../workspaces/workspaces.ts'
import {
  type App,
  type AppInput,
  findApp,
  ingressPath,
  listApps,
  requireApp,
  secretErrors,
  validateApp,
} from '../apps.ts'
import { type Connection, findConnection, refuseForeignToken, wabaIdErrors } from '../connections.ts'
import type { Network } from '../network.ts'
import {
  type AccountCheck,
  type Fact,
  factOf,
  inspectAccount,
  inspectNumbers,
  inspectSubscription,
  inspectToken,
  type Setup,
  type SubscriptionCheck,
  type TokenCheck,
  tokenOfAccount,
  tokenOfApp,
} from './inspect.ts'

export interface SetupInput {
  /** An app at Meta, or one that is stored already. */
  app:
    | { metaAppId: string; appSecret: string; name?: string | undefined; graphUrl?: string | undefined }
    | { id: string }
  accessToken: string
  /** May be left out if the token is for one account only. */
  wabaId?: string | undefined
  workspaceId: string
}

/** Everything that is there, at Meta and here. */
export interface Prepared {
  setup: Setup
  /** The app as it is stored; undefined if it is not yet. */
  stored: App | undefined
  /** Whether the stored app has the ID and the secret that were given. */
  isStoredRight: boolean
  /** To store it. */
  newApp: AppInput
  workspaceId: string
  workspaceName: string
  wabaId: string
  token: TokenCheck
  subscription: SubscriptionCheck
  /** Whether the callback at Meta is that of an app that is not stored here any more. */
  isCallbackUnused: boolean
  account: AccountCheck
  numbers: ListedNumber[]
  connection: Connection | undefined
  /** Whether the connection has the access token that was given. */
  isTokenStored: boolean
}

/** Reads what is there, and refuses secrets and IDs that Meta does not accept. Changes nothing. */
export async function prepare(network: Network, input: SetupInput, publicUrl: string): Promise<Prepared> {
  const { db, client, vault } = network
  const { accessToken, workspaceId } = input
  refuseIfAny([
    ...secretErrors('access_token', accessToken, 4000),
    ...(input.wabaId === undefined ? [] : wabaIdErrors(input.wabaId)),
  ])
  const { name: workspaceName } = await requireWorkspace(db, workspaceId)
  const { setup, stored, isStoredRight, newApp } = await readApp(network, input)
  const access = tokenOfApp(setup)
  const name = requireApplication(
    setup,
    factOf(await client.readAppName(access, setup.metaAppId), access, (it) => it),
  )
  const token = requireToken(setup, await inspectToken(network, access, accessToken))
  const wabaId = input.wabaId ?? onlyAccountOf(token)
  const subscription = requireFact(await inspectSubscription(network, setup), 'app_secret', (why) => why)
  const [isCallbackUnused, account, numbers, connection] = await Promise.all([
    isUnused(db, publicUrl, subscription.callbackUrl),
    inspectAccount(network, setup, wabaId),
    inspectNumbers(network, tokenOfAccount(setup), wabaId),
    stored && findConnection(db, stored.id, wabaId),
  ])
  if (connection && connection.workspaceId !== workspaceId)
    refuseParam('waba_id', 'already_connected', `Account ${wabaId} is already connected to another workspace.`)
  const ofAccount = (why: string) => `The access token cannot use account ${wabaId}: ${why}`
  return {
    setup,
    stored,
    isStoredRight,
    newApp: { ...newApp, name: newApp.name || name },
    workspaceId,
    workspaceName,
    wabaId,
    token,
    subscription,
    isCallbackUnused,
    account: requireFact(account, 'waba_id', ofAccount),
    numbers: requireFact(numbers, 'waba_id', ofAccount),
    connection,
    isTokenStored: connection !== undefined && (await vault.accessFor(connection.id))?.accessToken === accessToken,
  }
}

async function readApp(
  network: Network,
  { app, accessToken }: SetupInput,
): Promise<Pick<Prepared, 'setup' | 'stored' | 'isStoredRight' | 'newApp'>> {
  const { db, vault } = network
  if ('id' in app) {
    const stored = await requireApp(db, app.id)
    const opened = await vault.openApp(stored.id)
    if (!opened || stored.metaAppId === null)
      return refuse('not_found', { message: `App ${app.id} has no Meta app ID. Set it with "./parley app create".` })
    const { appSecret, verifyToken } = opened
    const { name, graphUrl, metaAppId } = stored
    const setup = { graphUrl, metaAppId, appSecret, accessToken }
    return { setup, stored, isStoredRight: true, newApp: { name, appSecret, verifyToken, graphUrl, metaAppId } }
  }
  const { metaAppId, appSecret } = app
  if (!/^\d{5,30}$/.test(metaAppId))
    refuseParam('app_id', 'invalid', `"${metaAppId.slice(0, 60)}" is not an app ID. Enter the number that Meta shows.`)
  const verifyToken = randomBytes(16).toString('hex')
  const valid = validateApp({ name: app.name ?? metaAppId, appSecret, verifyToken, graphUrl: app.graphUrl })
  const { stored, storedSecret } = await findStored(network, metaAppId, valid)
  return {
    setup: { graphUrl: valid.graphUrl, metaAppId, appSecret, accessToken },
    stored,
    isStoredRight: stored?.metaAppId === metaAppId && storedSecret === appSecret,
    newApp: { ...valid, name: app.name?.trim() ?? '', metaAppId },
  }
}

async function isUnused(db: Network['db'], publicUrl: string, callbackUrl: string | null): Promise<boolean> {
  if (!callbackUrl?.startsWith(publicUrl + ingressPath(''))) return false
  return !(await listApps(db)).some(({ id }) => callbackUrl === publicUrl + ingressPath(id))
}

/** By its ID at Meta, or an app that was registered without it and has the same secret. */
async function findStored(
  { db, vault }: Network,
  metaAppId: string,
  { graphUrl, appSecret }: { graphUrl: string; appSecret: string },
): Promise<{ stored: App | undefined; storedSecret: string | undefined }> {
  const known = await findApp(db, graphUrl, metaAppId)
  if (known) return { stored: known, storedSecret: (await vault.openApp(known.id))?.appSecret }
  for (const stored of (await listApps(db)).filter((each) => each.graphUrl === graphUrl && each.metaAppId === null)) {
    const storedSecret = (await vault.openApp(stored.id))?.appSecret
    if (storedSecret === appSecret) return { stored, storedSecret }
  }
  return { stored: undefined, storedSecret: undefined }
}

function requireApplication({ metaAppId }: Setup, fact: Fact<string>): string {
  const isSecret = fact.kind === 'failed' && fact.code === 190
  return requireFact(fact, isSecret ? 'app_secret' : 'app_id', (why) =>
    isSecret
      ? `The app secret is not that of app ${metaAppId}. Copy it from App settings → Basic.`
      : `Meta does not know app ${metaAppId}: ${why}`,
  )
}

function requireToken({ metaAppId }: Setup, fact: Fact<TokenCheck>): TokenCheck {
  if (fact.kind === 'failed' && fact.why.includes('did not match')) refuseForeignToken(metaAppId)
  const token = requireFact(fact, 'access_token', (why) => why)
  if (!token.isValid)
    refuseParam('access_token', 'refused', `The access token is not valid: ${token.problem ?? 'Meta does not say why'}`)
  if (token.metaAppId !== metaAppId) refuseForeignToken(metaAppId)
  if (token.missingScopes.length > 0)
    refuseParam(
      'access_token',
      'refused',
      `The access token lacks ${token.missingScopes.join(' and ')}. Generate a new one with both permissions.`,
    )
  return token
}

function onlyAccountOf({ wabaIds }: TokenCheck): string {
  const [only, ...others] = wabaIds ?? []
  if (only === undefined)
    return refuseParam('waba_id', 'missing', 'Meta does not say which account the token is for. Enter the account ID.')
  if (others.length > 0)
    refuseParam('waba_id', 'missing', `The token is for several accounts. Enter one of ${wabaIds?.join(', ')}.`)
  return only
}

/** A network that cannot be reached is no fault of the input. */
function requireFact<T>(fact: Fact<T>, param: string, describe: (why: string) => string): T {
  if (fact.kind === 'ok') return fact.value
  if (fact.code === null) return refuse('service_unavailable', { message: fact.why })
  return refuseParam(param, 'refused', describe(fact.why))
}
