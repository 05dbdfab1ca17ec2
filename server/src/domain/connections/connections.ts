import type { FieldError } from '@parley/contract/field-errors'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { seal } from '../../lib/seal.ts'
import type { CallOutcome } from '../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import type { TemplateChange } from '../../whatsapp/incoming/change.ts'
import { changeTemplate } from '../templates/templates.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { type App, ingressPath, requireApp, secretErrors } from './apps.ts'
import {
  bringSyncForward,
  bringSyncForwardOf,
  type Connection,
  connectionById,
  connectionOfAccount,
  insertConnection,
  workspacesOf,
} from './connections.sql.ts'
import { describeFailure } from './describe-failure.ts'
import type { Network } from './network.ts'
import { accessTokenContext } from './seal-contexts.ts'
import { leaseMs, type SyncOutcome, syncConnection } from './sync.ts'

export {
  connectionOfAccount as findConnection,
  expiringTokens,
  failingConnections,
  listConnections,
  tokenExpiresAt,
} from './connections.sql.ts'
export type { Connection }

export interface ConnectionInput {
  workspaceId: string
  appId: string
  wabaId: string
  accessToken: string
}

/** What was stored, and what the first sync achieved. */
export interface StoredConnection {
  connection: Connection
  sync: SyncOutcome
}

/** Writes the audit entry of a change, in the transaction of the change. */
export type AuditChange = (db: Db, connection: Pick<Connection, 'id' | 'workspaceId' | 'wabaId'>) => Promise<void>

/**
 * Connects an account: checks the token, subscribes the app to the account's webhooks, and only then stores anything.
 * If the first sync fails, the connection is kept, and the outcome says why.
 */
export async function createConnection(
  network: Network,
  input: ConnectionInput,
  audit?: AuditChange,
): Promise<StoredConnection & { remark: string | null }> {
  const { db } = network
  refuseIfAny([...secretErrors('access_token', input.accessToken, 4000), ...wabaIdErrors(input.wabaId)])
  await requireWorkspace(db, input.workspaceId)
  const app = await requireApp(db, input.appId)
  if (await connectionOfAccount(db, app.id, input.wabaId)) refuseTaken(input)
  const remark = await requireAccess(network, app, input)
  return { ...(await storeConnection(network, input, audit)), remark }
}

/** Refuses a token that cannot use the account, and subscribes its app to the account's webhooks. May return a remark. */
export async function requireAccess(
  network: Network,
  { id: appId, graphUrl, metaAppId }: App,
  { accessToken, wabaId }: Pick<ConnectionInput, 'accessToken' | 'wabaId'>,
): Promise<string | null> {
  const access = { graphUrl, accessToken }
  requireSuccess(await network.client.listPhoneNumbers(access, wabaId), access)
  // Not all tokens may be inspected.
  const token = await network.client.inspectToken(access, accessToken)
  const owner = token.kind === 'ok' ? token.value.metaAppId : null
  if (metaAppId !== null && owner !== null && owner !== metaAppId) refuseForeignToken(metaAppId)
  return requireSuccess(
    await ensureSubscribed(network, access, { appId, metaAppId: metaAppId ?? owner, wabaId }),
    access,
  )
}

/**
 * Subscribes the app to the account's webhooks if it is not. To subscribe again would remove a callback that the account has in
 * place of the app's, so that is kept. Returns a remark if it is not that of the app, or if `metaAppId` is not known (null)
 * and nothing was done because of it.
 */
export async function ensureSubscribed(
  { client }: Network,
  access: GraphAccess,
  { appId, metaAppId, wabaId }: { appId: string; metaAppId: string | null; wabaId: string },
): Promise<CallOutcome<string | null>> {
  const listed = await client.listSubscribedApps(access, wabaId)
  if (listed.kind !== 'ok') return listed
  // If the app is not known, each of them may be its own.
  const own = listed.value.filter((app) => metaAppId === null || app.metaAppId === metaAppId)
  const urls = own.flatMap(({ overrideUrl }) => overrideUrl ?? [])
  if (urls.some((url) => URL.canParse(url) && new URL(url).pathname === ingressPath(appId))) return done(null)
  if (urls.length > 0)
    return done(
      metaAppId === null
        ? `The app was not subscribed to account ${wabaId}, because Meta does not say whose callback this is: ${urls.join(', ')}`
        : `Account ${wabaId} sends its messages to a callback of its own, which was kept: ${urls.join(', ')}`,
    )
  if (metaAppId !== null && own.length > 0) return done(null)
  const subscribed = await client.subscribeApp(access, wabaId)
  return subscribed.kind === 'ok' ? done(null) : subscribed
}

const done = (remark: string | null): CallOutcome<string | null> => ({ kind: 'ok', value: remark })

/** Stores a connection whose token and account were checked, and fetches its numbers and templates. */
export async function storeConnection(
  network: Network,
  input: ConnectionInput,
  audit?: AuditChange,
): Promise<StoredConnection> {
  const { db, clock, secretKeys } = network
  const id = newUuid(clock.now().getTime())
  const row = {
    ...input,
    id,
    accessTokenSealed: seal(secretKeys, input.accessToken, accessTokenContext(id)),
    createdAt: clock.now(),
    // Keeps the loop from syncing at the same time: the first sync is done below.
    syncDueAt: new Date(clock.now().getTime() + leaseMs),
  }
  await db.transaction(async (tx) => {
    if ((await insertConnection(tx, row)) === 0) refuseTaken(input)
    await audit?.(tx, { id, ...input })
  })
  const sync = await syncConnection(network, id)
  return { connection: await requireConnection(db, id), sync }
}

export const requireConnection = async (db: Db, id: string): Promise<Connection> =>
  (await connectionById(db, id)) ?? refuse('not_found', { message: `Connection ${id} not found.` })

/** A change reported by the network triggers a sync this much later, but not more than one a minute. */
const changeDelayMs = 10_000
const minGapSeconds = 60

/**
 * Brings the next sync of a changed account forward. Undefined if the account is not connected through this app. `db`
 * may be a transaction; it must see all workspaces.
 */
export function scheduleSync(db: Db, clock: Clock, appId: string, wabaId: string): ReturnType<typeof bringSyncForward> {
  return bringSyncForward(db, appId, wabaId, new Date(clock.now().getTime() + changeDelayMs), minGapSeconds)
}

/** The same after the network rejected a message in a way that shows that the data of a connection is out of date. */
export async function scheduleSyncOf(db: Db, now: Date, connectionId: string): Promise<void> {
  await bringSyncForwardOf(db, connectionId, new Date(now.getTime() + changeDelayMs), minGapSeconds)
}

/** Applies a template change from a webhook immediately. The sync that follows fetches the complete templates. */
export const applyTemplateChange = (db: Db, clock: Clock, appId: string, change: TemplateChange): Promise<boolean> =>
  db.transaction(async (tx) => {
    const connection = await scheduleSync(tx, clock, appId, change.wabaId)
    if (!connection) return false
    const owner = { workspaceId: connection.workspaceId, connectionId: connection.id }
    return changeTemplate(tx, owner, change, clock.now())
  })

/** The workspaces of connected accounts, by `accountKey`. */
export async function workspacesOfAccounts(
  db: Db,
  accounts: readonly { appId: string; wabaId: string }[],
): Promise<ReadonlyMap<string, string>> {
  if (accounts.length === 0) return new Map()
  return new Map((await workspacesOf(db, accounts)).map((found) => [accountKey(found), found.workspaceId]))
}

export const accountKey = ({ appId, wabaId }: { appId: string; wabaId: string | null }): string => `${appId} ${wabaId}`

export function wabaIdErrors(wabaId: string): FieldError[] {
  if (/^\d{5,30}$/.test(wabaId)) return []
  const message = `"${wabaId.slice(0, 60)}" is not a WABA ID. Enter the account's number as Meta's WhatsApp Manager shows it.`
  return [{ param: 'waba_id', code: 'invalid', message }]
}

export const refuseForeignToken = (metaAppId: string): never =>
  refuseParam('access_token', 'refused', `The access token belongs to another app. Generate one for app ${metaAppId}.`)

/** Refuses the token with the network's error message if the call failed. */
function requireSuccess<T>(outcome: CallOutcome<T>, access: GraphAccess): T {
  if (outcome.kind === 'ok') return outcome.value
  const message = describeFailure(outcome, access)
  if (outcome.kind !== 'refused') refuse('service_unavailable', { message })
  return refuseParam('access_token', 'refused', `WhatsApp rejected the request: ${message}`)
}

const refuseTaken = ({ wabaId, appId }: ConnectionInput): never =>
  refuseParam('waba_id', 'already_connected', `Account ${wabaId} is already connected through app ${appId}.`)
