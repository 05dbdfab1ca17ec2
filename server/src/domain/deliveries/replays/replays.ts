/** Starting, reading and cancelling replays. `run.ts` runs them. */
import type { ConsoleReplay, ReplayHold } from '@parley/contract/console/replays'
import { eventTypes } from '@parley/contract/events'
import type { FieldError } from '@parley/contract/field-errors'
import {
  defaultReplayRate,
  type Replay,
  type ReplayCoverage,
  replayCoverages,
  replayRateMax,
} from '@parley/contract/replay'
import type { Db } from '../../../db/db.ts'
import { wakeHere } from '../../../db/wake.ts'
import type { Clock } from '../../../lib/clock.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../../lib/refuse.ts'
import { requireEndpoint } from '../endpoint.ts'
import { countReplay, countWithin, typesOf } from './count.ts'
import { countOpenReplays, insertReplay, markCancelled, type ReplayRow, replayById, replaysOf } from './replays.sql.ts'

/** How many replays of a workspace can be in progress. Each has its own rate and its own steps. */
const openMax = 10
/** Newest replays in a list. */
const listMax = 100
/** How long a request counts. The process that runs the replay counts the rest. */
const countForMs = 2_000

export interface ReplayInput {
  since: Date
  until?: Date | undefined
  /** Event types. Undefined: all types that the webhook subscribes to. */
  events?: readonly string[] | undefined
  /** Numbers, by their public IDs. */
  senders?: readonly string[] | undefined
  only?: ReplayCoverage | undefined
  rate?: number | undefined
}

/**
 * Starts a replay. Call `countReplayFor` or `countReplayFully` after the commit. If `within` is given, the endpoint must belong to
 * that workspace.
 */
export async function startReplay(
  db: Db,
  clock: Clock,
  webhookId: string,
  input: ReplayInput,
  within?: string,
): Promise<{ replay: Replay; workspaceId: string; webhookName: string }> {
  const endpoint = await requireEndpoint(db, webhookId, within)
  const { uuid, workspaceId, name: webhookName } = endpoint
  const now = clock.now()
  const checked = checkInput(input, endpoint.events, now)
  if ((await countOpenReplays(db, workspaceId)) >= openMax) {
    refuseParam(
      'webhook_id',
      'too_many',
      `This workspace already has ${openMax} replays in progress. Wait until one is completed, or cancel one.`,
    )
  }
  const id = newUuid(now.getTime())
  await insertReplay(db, { id, workspaceId, webhookId: uuid, createdAt: now, ...checked })
  db.notify(workspaceId, 'webhooks')
  wakeHere(db, 'replays')
  return { replay: toReplay(await requireRow(db, id)), workspaceId, webhookName }
}

/** How many events a replay would cover; `more` if there may be more, because counting takes long. */
export async function previewReplay(
  db: Db,
  clock: Clock,
  webhookId: string,
  input: Omit<ReplayInput, 'rate'>,
  within: string,
): Promise<{ count: number; more: boolean }> {
  const { uuid, workspaceId, events } = await requireEndpoint(db, webhookId, within)
  const { types, ...checked } = checkInput(input, events, clock.now())
  const coverage = { ...checked, workspaceId, webhookId: uuid, types: typesOf({ types, subscribed: events }) }
  return countWithin(db, coverage, countForMs)
}

/** Counts the events of a new replay. With a million of them, the request returns before all are counted. */
export async function countReplayFor(db: Db, id: string, workspaceId: string): Promise<ConsoleReplay> {
  await countReplay(db, requireUuid(id), countForMs)
  return getReplay(db, id, workspaceId)
}

export async function countReplayFully(db: Db, id: string): Promise<Replay> {
  await countReplay(db, requireUuid(id))
  return toReplay(await requireRow(db, requireUuid(id)))
}

/** The newest replays of an endpoint, or of all. If `workspaceId` is given, the endpoint must belong to that workspace. */
export async function listReplays(db: Db, webhookId?: string, workspaceId?: string): Promise<ConsoleReplay[]> {
  const uuid = webhookId === undefined ? null : (await requireEndpoint(db, webhookId, workspaceId)).uuid
  return (await replaysOf(db, uuid, listMax)).map(toConsoleReplay)
}

/** If `workspaceId` is given, the replay must belong to that workspace. */
export const getReplay = async (db: Db, id: string, workspaceId?: string): Promise<ConsoleReplay> =>
  toConsoleReplay(await requireRow(db, requireUuid(id), workspaceId))

/** Cancels a replay: events that were not sent yet are dropped. */
export async function cancelReplay(
  db: Db,
  clock: Clock,
  id: string,
  within?: string,
): Promise<{ replay: ConsoleReplay; workspaceId: string; webhookName: string }> {
  const { id: uuid, workspaceId, webhookName } = await requireRow(db, requireUuid(id), within)
  if ((await markCancelled(db, uuid, clock.now())) === 0) {
    refuse('conflict', { message: 'This replay has already ended. It cannot be cancelled.' })
  }
  db.notify(workspaceId, 'webhooks')
  wakeHere(db, 'replays')
  return { replay: await getReplay(db, id), workspaceId, webhookName }
}

/** Replays in progress of all workspaces. */
export const countReplays = (db: Db): Promise<number> => countOpenReplays(db, null)

/** Why a running replay sends nothing; null if it does. */
export function holdOf(replay: Pick<ReplayRow, 'isDisabled' | 'isFailing' | 'isSuspended'>): ReplayHold | null {
  if (replay.isSuspended) return 'workspace_suspended'
  if (replay.isDisabled) return 'webhook_disabled'
  return replay.isFailing ? 'webhook_failing' : null
}

/** Without its details. */
const toReplay = (row: ReplayRow): Replay => ({
  id: withPrefix('rpl', row.id),
  webhook_id: withPrefix('whk', row.webhookId),
  state: row.state,
  total: row.total,
  delivered: row.delivered,
  failed: row.failed,
  rate: row.rate,
  created_at: row.createdAt.toISOString(),
})

const toConsoleReplay = (row: ReplayRow): ConsoleReplay => ({
  ...toReplay(row),
  since: row.since.toISOString(),
  until: row.until.toISOString(),
  events: row.types,
  senders: row.senders?.map((id) => withPrefix('snd', id)) ?? null,
  only: row.covers,
  counting: row.state === 'running' && !row.isCounted,
  hold: row.state === 'running' ? holdOf(row) : null,
  ended_at: row.endedAt?.toISOString() ?? null,
})

const requireUuid = (id: string): string => withoutPrefix('rpl', id) ?? refuse('not_found')

async function requireRow(db: Db, uuid: string, workspaceId?: string): Promise<ReplayRow> {
  const row = await replayById(db, uuid)
  return row && (workspaceId === undefined || row.workspaceId === workspaceId) ? row : refuse('not_found')
}

/** Reports every error. A future end becomes now: later events are delivered as they occur. */
function checkInput(
  { since, until, events, senders, only = 'failed', rate = defaultReplayRate }: ReplayInput,
  subscribed: readonly string[],
  now: Date,
) {
  const errors: FieldError[] = []
  const end = until && until < now ? until : now
  if (since > end) {
    const message = until && since > until ? '"since" must be before "until".' : '"since" must be in the past.'
    errors.push({ param: 'since', code: 'out_of_range', message })
  }
  for (const type of events ?? []) {
    if (subscribed.includes(type)) continue
    const isKnown = (eventTypes as readonly string[]).includes(type)
    const message = isKnown
      ? `This webhook does not subscribe to "${type}". Subscribe to it first, or choose from ${subscribed.join(', ')}.`
      : `"${type}" is not an event type. Choose from ${subscribed.join(', ')}.`
    errors.push({ param: 'events', code: 'invalid', message })
  }
  const uuids = senders?.map((id) => withoutPrefix('snd', id))
  if (uuids?.includes(undefined)) {
    errors.push({ param: 'senders', code: 'invalid', message: 'Enter IDs of numbers, which begin with snd_.' })
  }
  if (!replayCoverages.includes(only)) {
    errors.push({ param: 'only', code: 'invalid', message: `Use one of ${replayCoverages.join(', ')}.` })
  }
  if (!Number.isInteger(rate) || rate < 1 || rate > replayRateMax) {
    const message = `Enter a rate from 1 to ${replayRateMax} events per second.`
    errors.push({ param: 'rate', code: 'out_of_range', message })
  }
  refuseIfAny(errors)
  return {
    since,
    until: end,
    types: events ? [...events] : null,
    senders: uuids ? uuids.filter((uuid) => uuid !== undefined) : null,
    covers: only,
    rate,
  }
}
