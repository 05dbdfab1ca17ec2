/**
 * Bringing what we show in line with what the network lists. A synchronisation takes a ticket and a lease in one short
 * statement, asks the network with no transaction open, and settles in one short transaction:
 *
 *   due → leased → settled, due again in six hours
 *                → settled, but updates are parked for numbers that are not listed: due again after a growing wait
 *                → failed, what was there stays, due again after a growing wait, or soon while updates are parked
 *                → overtaken by one with a later ticket: nothing is written
 */
import { wakeHere } from '../../db/wake.ts'
import { isUuid } from '../../lib/ids.ts'
import type { Logger } from '../../lib/logger.ts'
import { type Loop, startLoop } from '../../lib/loop.ts'
import { refuse } from '../../lib/refuse.ts'
import type { CallFailure } from '../../whatsapp/graph-call.ts'
import type { ListedNumber, ListedTemplate } from '../../whatsapp/listings.ts'
import { saveSenders } from '../senders/senders.ts'
import { saveTemplates } from '../templates/templates.ts'
import { wordsOf } from './failure.ts'
import type { Network } from './network.ts'
import { type UnlistedNumber, unlistedNumbers } from './parked.ts'
import {
  claimDue,
  claimOne,
  holdTurn,
  type Lease,
  recordSyncFailure,
  recordSyncSuccess,
  type Started,
  soonestDue,
} from './sync.sql.ts'

export type SyncOutcome =
  | {
      kind: 'synced'
      senders: number
      templates: number
      remark: string | null
      /** Numbers that updates are parked for and that the account does not list. */
      unlisted: UnlistedNumber[]
    }
  | { kind: 'failed'; why: string; nextAt: Date }
  | { kind: 'overtaken' }

export const everyMs = 6 * 3_600_000
/** Longer than any listing takes in practice; one that does take longer is overtaken, not doubled. */
export const leaseMs = 10 * 60_000
const leaseIfParkedMs = 60_000
const lookMs = 5_000
const atOnce = 4
const stopMs = 5_000

/** Synchronises one connection now. */
export async function syncConnection(network: Network, id: string): Promise<SyncOutcome> {
  const started = isUuid(id) ? await claimOne(network.db, id, network.clock.now(), newLease(network)) : undefined
  if (!started) return refuse('not_found', { message: `There is no connection ${id}.` })
  return runSync(network, started)
}

/** Synchronises until nothing is due, and says how many it were. */
export async function drainSyncs(network: Network, log: Logger, isStopping = () => false): Promise<number> {
  let done = 0
  while (!isStopping()) {
    const claimed = await claimDue(network.db, network.clock.now(), newLease(network), atOnce)
    if (claimed.length === 0) break
    await Promise.all(claimed.map((started) => syncAndTell(network, log, started)))
    done += claimed.length
  }
  return done
}

export function startSyncLoop(network: Network, log: Logger): Loop {
  let stopping = false
  const loop = startLoop({ db: network.db, log }, 'synchronise', lookMs, async () => {
    await drainSyncs(network, log, () => stopping)
    const dueMs = (await soonestDue(network.db))?.at?.getTime() ?? Number.POSITIVE_INFINITY
    return { nextInMs: Math.max(100, dueMs - network.clock.now().getTime()) }
  })
  return {
    async stop() {
      stopping = true
      // A slow network is not waited for: what is under way is not settled, and its lease runs out.
      const late = new Promise<void>((resolve) => setTimeout(resolve, stopMs).unref())
      await Promise.race([loop.stop(), late])
    },
  }
}

/** When to try again after so many failures in a row: a minute, two, four … an hour, or when the network says. */
export function waitAfter(failures: number, retryAfterMs: number | null): number {
  return Math.max(retryAfterMs ?? 0, Math.min(3_600_000, 60_000 * 2 ** (Math.min(failures, 10) - 1)))
}

const parkedWaitMs = 15_000
/** So many refusals in a row are answered with the short wait; after that it doubles. */
const shortWaits = 8

/**
 * The same while updates are parked: 15 seconds. If the network refuses again and again, for example because the token was
 * revoked, it grows to five minutes: a new token syncs at once.
 */
export function waitIfParked(failures: number, failure: CallFailure): number {
  if (failure.kind !== 'refused') return parkedWaitMs
  const grown = parkedWaitMs * 2 ** Math.min(10, Math.max(0, failures - shortWaits))
  return Math.max(failure.retryAfterMs ?? 0, Math.min(300_000, grown))
}

/** When to ask again for numbers that the account did not list: 15 seconds, 30, a minute … a quarter of an hour. */
export const waitIfUnlisted = (syncs: number): number => Math.min(900_000, 15_000 * 2 ** (Math.min(syncs, 10) - 1))

async function syncAndTell(network: Network, log: Logger, started: Started): Promise<void> {
  const connectionId = started.id
  try {
    const outcome = await runSync(network, started)
    if (outcome.kind === 'failed')
      log.warn({ event: 'sync.failed', connection_id: connectionId, error: outcome.why }, 'syncing a connection failed')
    else
      log.debug({ event: 'sync.finished', connection_id: connectionId, outcome: outcome.kind }, 'synced a connection')
    if (outcome.kind === 'synced' && outcome.unlisted.length > 0) logUnlisted(log, started, outcome.unlisted)
  } catch (error) {
    // Its lease runs out by itself; the others go on.
    log.warn({ event: 'sync.failed', err: error, connection_id: connectionId }, 'syncing a connection failed')
  }
}

function logUnlisted(log: Logger, { id, waba_id }: Started, unlisted: readonly UnlistedNumber[]): void {
  const updates = unlisted.reduce((sum, number) => sum + number.updates, 0)
  const phoneNumberIds = unlisted.slice(0, 10).map(({ phoneNumberId }) => phoneNumberId)
  const fields = { connection_id: id, waba_id, phone_number_ids: phoneNumberIds, numbers: unlisted.length, updates }
  log.warn(
    { event: 'sync.numbers_not_listed', ...fields },
    'updates stay parked: the account does not list their numbers',
  )
}

async function runSync(network: Network, started: Started): Promise<SyncOutcome> {
  const { clock, client, vault } = network
  const access = await vault.accessFor(started.id)
  if (!access) throw new Error(`the connection ${started.id} is gone`)
  const listedAt = clock.now()
  const [numbers, templates] = await Promise.all([
    client.listPhoneNumbers(access, started.waba_id),
    client.listTemplates(access, started.waba_id),
  ])
  if (numbers.kind === 'ok' && templates.kind === 'ok') {
    return settle(network, started, { numbers: numbers.value, templates: templates.value, listedAt })
  }
  const failure = numbers.kind !== 'ok' ? numbers : templates
  if (failure.kind === 'ok') throw new Error('one of the two failed')
  return settleFailure(network, started, failure, wordsOf(failure, access))
}

function settleFailure(network: Network, started: Started, failure: CallFailure, why: string): Promise<SyncOutcome> {
  const failures = started.sync_failures + 1
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : null
  return network.db.transaction(async (tx) => {
    // Locked first: an update that is parked meanwhile is either seen here or brings the next sync forward afterwards.
    await holdTurn(tx, started)
    const usualMs = waitAfter(failures, retryAfterMs)
    const isWaitedFor = (await unlistedNumbers(tx, started.id)).length > 0
    const nextAt = later(network, isWaitedFor ? Math.min(usualMs, waitIfParked(failures, failure)) : usualMs)
    const notBefore = retryAfterMs === null ? null : later(network, retryAfterMs)
    await recordSyncFailure(tx, started, why, nextAt, notBefore)
    return { kind: 'failed', why, nextAt }
  })
}

function settle(
  network: Network,
  started: Started,
  listed: { numbers: ListedNumber[]; templates: ListedTemplate[]; listedAt: Date },
): Promise<SyncOutcome> {
  const { numbers, templates, listedAt } = listed
  const owner = { workspaceId: started.workspace_id, connectionId: started.id, appId: started.app_id }
  return network.db.transaction(async (tx) => {
    const turn = await holdTurn(tx, started)
    if (!turn) return { kind: 'overtaken' }
    const now = network.clock.now()
    const { notOurs } = await saveSenders(tx, owner, numbers, now)
    await saveTemplates(tx, owner, templates, now)
    const remark =
      notOurs.length === 0 ? null : `Another workspace has ${notOurs.join(', ')} through the same app; it stays there.`
    const unlisted = await unlistedNumbers(tx, started.id)
    const unlistedSyncs = unlisted.length === 0 ? 0 : turn.unlisted_syncs + 1
    const next = later(network, unlistedSyncs === 0 ? everyMs : waitIfUnlisted(unlistedSyncs))
    await recordSyncSuccess(tx, started, { next, listedAt, remark, unlistedSyncs })
    wakeHere(tx, 'release parked updates')
    return { kind: 'synced', senders: numbers.length - notOurs.length, templates: templates.length, remark, unlisted }
  })
}

const later = ({ clock }: Network, ms: number): Date => new Date(clock.now().getTime() + ms)

const newLease = (network: Network): Lease => ({
  until: later(network, leaseMs),
  untilIfParked: later(network, leaseIfParkedMs),
})
