import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { seal } from '../../lib/seal.ts'
import type { GraphAccess } from '../../whatsapp/client.ts'
import type { CallOutcome } from '../../whatsapp/graph-call.ts'
import type { TemplateChange } from '../../whatsapp/incoming-change.ts'
import { changeTemplate } from '../templates/templates.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { requireApp, secretErrors } from './apps.ts'
import {
  allConnections,
  bringSyncForward,
  type ConnectionRow,
  connectionById,
  connectionOfAccount,
  connectionsOf,
  insertConnection,
} from './connections.sql.ts'
import { wordsOf } from './failure.ts'
import type { Network } from './network.ts'
import { accessTokenContext } from './seal-contexts.ts'
import { leaseMs, type SyncOutcome, syncConnection } from './sync.ts'

export { failingConnections } from './connections.sql.ts'

/** A WhatsApp business account that a workspace uses through an app. */
export interface Connection {
  id: string
  workspaceId: string
  appId: string
  wabaId: string
  createdAt: Date
  syncedAt: Date | null
  syncError: string | null
  syncDueAt: Date
}

export interface ConnectionInput {
  workspaceId: string
  appId: string
  wabaId: string
  accessToken: string
}

/**
 * Connects an account: the token has to open it, then the app is subscribed to its webhooks, and only then is anything
 * stored. If the first synchronisation fails, the connection stands all the same, and the outcome says why.
 */
export async function createConnection(
  network: Network,
  input: ConnectionInput,
): Promise<{ connection: Connection; sync: SyncOutcome }> {
  const { db, clock, client, secretKeys } = network
  checkWish(input)
  await requireWorkspace(db, input.workspaceId)
  const app = await requireApp(db, input.appId)
  if (await connectionOfAccount(db, app.id, input.wabaId)) refuseTaken(input)
  const access = { graphUrl: app.graphUrl, accessToken: input.accessToken }
  requireSuccess(await client.listPhoneNumbers(access, input.wabaId), access)
  requireSuccess(await client.subscribeApp(access, input.wabaId), access)
  const id = newUuid(clock.now().getTime())
  const row = {
    id,
    workspace_id: input.workspaceId,
    app_id: app.id,
    waba_id: input.wabaId,
    created_at: clock.now(),
    // Not at once for the loop: the synchronisation below is the first.
    sync_due_at: new Date(clock.now().getTime() + leaseMs),
  }
  const sealed = seal(secretKeys, input.accessToken, accessTokenContext(id))
  if ((await insertConnection(db, row, sealed)) === 0) refuseTaken(input)
  const sync = await syncConnection(network, id)
  return { connection: await requireConnection(db, id), sync }
}

/** The oldest first; of one workspace or, for the operator, of all. */
export async function listConnections(db: Db, workspaceId?: string): Promise<Connection[]> {
  return (workspaceId ? await connectionsOf(db, workspaceId) : await allConnections(db)).map(toConnection)
}

export async function requireConnection(db: Db, id: string): Promise<Connection> {
  const row = await connectionById(db, id)
  return row ? toConnection(row) : refuse('not_found', { message: `There is no connection ${id}.` })
}

/** The account is asked again this long after the network said that something changed, but not more often than once a minute. */
const settlingMs = 10_000
const restSeconds = 60

/**
 * Something about an account changed: its next synchronisation is brought forward. Undefined if the account is not
 * connected through this app. `db` may be a transaction; it has to see every workspace.
 */
export function recordConnectionChange(
  db: Db,
  clock: Clock,
  appId: string,
  wabaId: string,
): Promise<{ id: string; workspace_id: string } | undefined> {
  return bringSyncForward(db, appId, wabaId, new Date(clock.now().getTime() + settlingMs), restSeconds)
}

/** What the network says about a template counts at once; the list of templates, asked soon after, has the whole truth. */
export async function applyTemplateChange(
  db: Db,
  clock: Clock,
  appId: string,
  change: TemplateChange,
): Promise<boolean> {
  const connection = await recordConnectionChange(db, clock, appId, change.wabaId)
  if (!connection) return false
  const owner = { workspaceId: connection.workspace_id, connectionId: connection.id }
  return changeTemplate(db, owner, change, clock.now())
}

function checkWish({ wabaId, accessToken }: ConnectionInput): void {
  const faults = secretErrors('access_token', accessToken, 4000)
  if (!/^\d{5,30}$/.test(wabaId)) {
    const message = `The WABA id is "${wabaId.slice(0, 60)}", but it is a number, as Meta's WhatsApp Manager shows it.`
    faults.push({ param: 'waba_id', code: 'invalid', message })
  }
  refuseIfAny(faults)
}

/** Refuses a token that the network refuses, in the network's words. */
export function requireSuccess(outcome: CallOutcome<unknown>, access: GraphAccess): void {
  if (outcome.kind === 'ok') return
  const message = wordsOf(outcome, access)
  if (outcome.kind !== 'refused') refuse('service_unavailable', { message })
  refuseParam('access_token', 'refused', `The network refuses: ${message}`)
}

const refuseTaken = ({ wabaId, appId }: ConnectionInput): never =>
  refuseParam('waba_id', 'taken', `The account ${wabaId} is connected through the app ${appId} already.`)

const toConnection = (row: ConnectionRow): Connection => ({
  id: row.id,
  workspaceId: row.workspace_id,
  appId: row.app_id,
  wabaId: row.waba_id,
  createdAt: row.created_at,
  syncedAt: row.synced_at,
  syncError: row.sync_error,
  syncDueAt: row.sync_due_at,
})
