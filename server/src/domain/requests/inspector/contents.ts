import type { BodyState, StoredBody } from '@parley/contract/console/inspector'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import {
  bodiesOfRequests,
  type ContentsRow,
  deleteBodies,
  deleteBodiesOfRequests,
  deleteRemoval,
  errorOf,
  insertRemoval,
  removalsDue,
} from './contents.sql.ts'

export interface StoredContents {
  /** The path and the query string, redacted. */
  target: string | null
  request: StoredBody | null
  response: StoredBody | null
  /** Whether bodies are stored, even if there were none. */
  hasBodies: boolean
}

/** Reads the stored contents of a request of the time `at`. Empty if it is older than `days`. Bodies are read only if `withBodies` is set. */
export async function contentsOf(
  db: Db,
  workspaceId: string,
  { id, at }: { id: string; at: Date },
  { now, days, withBodies }: { now: Date; days: number; withBodies: boolean },
): Promise<StoredContents> {
  if (now.getTime() - at.getTime() > days * 86_400_000) return nothing
  const error = await errorOf(db, workspaceId, id, at)
  const [bodies] = withBodies ? await bodiesOfRequests(db, workspaceId, [id], at) : []
  return {
    target: bodies?.target ?? error?.target ?? null,
    request: bodies ? toBody(bodies.request, bodies.request_state) : null,
    response: responseOf(error) ?? responseOf(bodies),
    hasBodies: bodies !== undefined,
  }
}

const responseOf = (row: Pick<ContentsRow, 'response' | 'response_state'> | undefined): StoredBody | null =>
  row ? toBody(row.response, row.response_state) : null

const nothing: StoredContents = { target: null, request: null, response: null, hasBodies: false }

/** The table holds only states that this code wrote. */
const toBody = (text: string | null, state: string | null): StoredBody | null =>
  state === null ? null : { text, state: state as BodyState }

/** A request, and the time of the message that it created. */
export interface MadeBy {
  requestId: string | null
  createdAt: Date
}

/** A request began at most this long before the message that it created. */
const maxDurationMs = 5 * 60_000

const idsOf = (made: readonly MadeBy[]): string[] => made.flatMap(({ requestId }) => requestId ?? [])
const sinceOf = (made: readonly MadeBy[]): Date =>
  new Date(Math.min(...made.map(({ createdAt }) => createdAt.getTime())) - maxDurationMs)

/** The redacted bodies of the requests that created messages, by request, for the export of a person. */
export async function contentsMadeBy(
  db: Db,
  workspaceId: string,
  made: readonly MadeBy[],
): Promise<Map<string, { target: string; request: string | null; response: string | null }>> {
  const ids = idsOf(made)
  if (ids.length === 0) return new Map()
  const rows = await bodiesOfRequests(db, workspaceId, ids, sinceOf(made))
  return new Map(
    rows.map(({ requestId, target, request, response }) => [requestId, { target, request, response }] as const),
  )
}

/** Deletes the bodies of the requests that created messages, because their contact is erased. */
export async function eraseContentsMadeBy(tx: Db, workspaceId: string, made: readonly MadeBy[]): Promise<number> {
  const ids = idsOf(made)
  return ids.length === 0 ? 0 : deleteBodiesOfRequests(tx, workspaceId, ids, sinceOf(made))
}

/** The inspector was turned off: what is stored is hidden now and deleted by the next maintenance. */
export const planBodyRemoval = async (tx: Db, clock: Clock, workspaceId: string): Promise<void> => {
  await insertRemoval(tx, workspaceId, clock.now())
}

const batchRows = 5_000
/** Batches of one run: a million bodies. */
const batchesMax = 200
/** A request that was in progress when the inspector was turned off is written within this time. */
const lateMs = 10 * 60_000

export async function removeBodies(db: Db, clock: Clock): Promise<void> {
  let batches = 0
  for (const removal of await removalsDue(db)) {
    let deleted = batchRows
    while (deleted >= batchRows && batches++ < batchesMax) deleted = await deleteBodies(db, removal, batchRows)
    if (batches >= batchesMax) return
    if (clock.now().getTime() - removal.until.getTime() > lateMs) await deleteRemoval(db, removal)
  }
}
