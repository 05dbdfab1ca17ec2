/**
 * Syncs senders and templates with the network. A sync takes a ticket and a lease in one short statement, calls the
 * network with no transaction open, and applies the result in one short transaction:
 *
 *   due → leased → applied: due again in six hours
 *                → applied, but updates are parked for numbers that are not listed: due again with backoff
 *                → failed: nothing changes; due again with backoff, or soon while updates are parked
 *                → overtaken by a sync with a later ticket: nothing is written
 */

import { type Loop, startLoop } from '../../db/loop.ts'
import { isUuid } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { CallFailure } from '../../whatsapp/graph/call.ts'
import type { ListedNumber, ListedTemplate } from '../../whatsapp/graph/listings.ts'
import { saveSenders } from '../senders/change-senders.ts'
import { saveTemplates } from '../templates/templates.ts'
import { describeFailure } from './describe-failure.ts'
import type { Network } from './network.ts'
import { type UnlistedNumber, unlistedNumbers } from './parked.ts'
import {
  claimDue,
  claimOne,
  type Lease,
  lockConnection,
  nextSyncDue,
  recordSyncFailure,
  recordSyncSuccess,
  type StartedSync,
  setTokenExpiry,
} from './sync.sql.ts'

export type SyncOutcome =
  | {
      kind: 'synced'
      senders: number
      templates: number
      remark: string | null
      /** Numbers with parked updates that the account does not list. */
      unlisted: UnlistedNumber[]
    }
  | { kind: 'failed'; why: string; nextAt: Date }
  | { kind: 'overtaken' }

const syncIntervalMs = 6 * 3_600_000
/**
 * Longer than any sync takes in practice. A slower one is overtaken by the next, so its result is not applied twice.
 */
export const leaseMs = 10 * 60_000
const leaseIfParkedMs = 60_000
const pollMs = 5_000
const concurrency = 4
const stopTimeoutMs = 5_000

/** Syncs one connection now. */
export async function syncConnection(network: Network, id: string): Promise<SyncOutcome> {
  const started = isUuid(id) ? await claimOne(network.db, id, network.clock.now(), newLease(network)) : undefined
  if (!started) return refuse('not_found', { message: `Connection ${id} not found.` })
  return runSync(network, started)
}

/** Syncs until no connection is due, and returns how many it synced. */
export async function drainSyncs(network: Network, log: Logger, isStopping = () => false): Promise<number> {
  let done = 0
  while (!isStopping()) {
    const claimed = await claimDue(network.db, network.clock.now(), newLease(network), concurrency)
    if (claimed.length === 0) break
    await Promise.all(claimed.map((started) => syncAndLog(network, log, started)))
    done += claimed.length
  }
  return done
}

export function startSyncLoop(network: Network, log: Logger): Loop {
  let stopping = false
  const loop = startLoop({ db: network.db, log }, 'sync accounts', pollMs, async () => {
    await drainSyncs(network, log, () => stopping)
    const dueMs = (await nextSyncDue(network.db))?.at?.getTime() ?? Number.POSITIVE_INFINITY
    return { nextInMs: Math.max(100, dueMs - network.clock.now().getTime()) }
  })
  return {
    async stop() {
      stopping = true
      // Do not wait for a slow network: an unfinished sync is not applied, and its lease expires.
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, stopTimeoutMs).unref())
      await Promise.race([loop.stop(), timeout])
    },
  }
}

/** The wait after this many failures in a row: 1 minute, 2, 4 … up to an hour, or longer if the network asks for it. */
export function waitAfter(failures: number, retryAfterMs: number | null): number {
  return Math.max(retryAfterMs ?? 0, Math.min(3_600_000, 60_000 * 2 ** (Math.min(failures, 10) - 1)))
}

const parkedWaitMs = 15_000
/** The wait stays short for this many refusals in a row, then doubles each time. */
const shortWaits = 8

/**
 * The wait while updates are parked: 15 seconds. If the network keeps refusing, for example because the token was
 * revoked, it grows to five minutes. A new token triggers a sync immediately, so the longer wait delays nothing.
 */
export function waitIfParked(failures: number, failure: CallFailure): number {
  if (failure.kind !== 'refused') return parkedWaitMs
  const grown = parkedWaitMs * 2 ** Math.min(10, Math.max(0, failures - shortWaits))
  return Math.max(failure.retryAfterMs ?? 0, Math.min(300_000, grown))
}

/** The wait after syncs that did not list a number with parked updates: 15 seconds, 30, 60 … up to 15 minutes. */
const waitIfUnlisted = (syncs: number): number => Math.min(900_000, 15_000 * 2 ** (Math.min(syncs, 10) - 1))

async function syncAndLog(network: Network, log: Logger, started: StartedSync): Promise<void> {
  const connectionId = started.id
  try {
    const outcome = await runSync(network, started)
    if (outcome.kind === 'failed')
      log.warn({ event: 'sync.failed', connection_id: connectionId, error: outcome.why }, 'syncing a connection failed')
    else
      log.debug({ event: 'sync.finished', connection_id: connectionId, outcome: outcome.kind }, 'synced a connection')
    if (outcome.kind === 'synced' && outcome.unlisted.length > 0) logUnlisted(log, started, outcome.unlisted)
  } catch (error) {
    // The lease expires, and the connection is retried. The other syncs continue.
    log.warn({ event: 'sync.failed', err: error, connection_id: connectionId }, 'syncing a connection failed')
  }
}

function logUnlisted(log: Logger, { id, waba_id }: StartedSync, unlisted: readonly UnlistedNumber[]): void {
  const updates = unlisted.reduce((sum, number) => sum + number.updates, 0)
  const phoneNumberIds = unlisted.slice(0, 10).map(({ phoneNumberId }) => phoneNumberId)
  const fields = { connection_id: id, waba_id, phone_number_ids: phoneNumberIds, numbers: unlisted.length, updates }
  log.warn(
    { event: 'sync.numbers_not_listed', ...fields },
    'updates stay parked: the account does not list their numbers',
  )
}

async function runSync(network: Network, started: StartedSync): Promise<SyncOutcome> {
  const { clock, client, vault } = network
  const access = await vault.accessFor(started.id)
  if (!access) throw new Error(`connection ${started.id} not found`)
  const listedAt = clock.now()
  const [numbers, templates, token] = await Promise.all([
    client.listPhoneNumbers(access, started.waba_id),
    client.listTemplates(access, started.waba_id),
    client.inspectToken(access, access.accessToken),
  ])
  if (numbers.kind === 'ok' && templates.kind === 'ok') {
    // Not all tokens may be inspected. Then its expiry stays unknown.
    const tokenExpiresAt = token.kind === 'ok' ? token.value.expiresAt : undefined
    const listed = { numbers: numbers.value, templates: templates.value, listedAt, tokenExpiresAt }
    return applyListing(network, started, listed)
  }
  const failure = numbers.kind !== 'ok' ? numbers : templates
  if (failure.kind === 'ok') throw new Error('unreachable: one of the two calls failed')
  return recordFailure(network, started, failure, describeFailure(failure, access))
}

function recordFailure(
  network: Network,
  started: StartedSync,
  failure: CallFailure,
  why: string,
): Promise<SyncOutcome> {
  const failures = started.sync_failures + 1
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : null
  return network.db.transaction(async (tx) => {
    // Lock first: an update parked concurrently is then either counted here or brings the next sync forward.
    await lockConnection(tx, started)
    const usualMs = waitAfter(failures, retryAfterMs)
    const hasParked = (await unlistedNumbers(tx, started.id)).length > 0
    const nextAt = later(network, hasParked ? Math.min(usualMs, waitIfParked(failures, failure)) : usualMs)
    const notBefore = retryAfterMs === null ? null : later(network, retryAfterMs)
    if ((await recordSyncFailure(tx, started, why, nextAt, notBefore)) > 0) tx.notify(started.workspace_id, 'senders')
    return { kind: 'failed', why, nextAt }
  })
}

function applyListing(
  network: Network,
  started: StartedSync,
  listed: {
    numbers: ListedNumber[]
    templates: ListedTemplate[]
    listedAt: Date
    /** Null: the token does not expire. Undefined: not known. */
    tokenExpiresAt: Date | null | undefined
  },
): Promise<SyncOutcome> {
  const { numbers, templates, listedAt, tokenExpiresAt } = listed
  const owner = { workspaceId: started.workspace_id, connectionId: started.id, appId: started.app_id }
  return network.db.transaction(async (tx) => {
    const locked = await lockConnection(tx, started)
    if (!locked) return { kind: 'overtaken' }
    const now = network.clock.now()
    const { ownedElsewhere } = await saveSenders(tx, owner, numbers, now)
    await saveTemplates(tx, owner, templates, now, locked.is_first)
    if (tokenExpiresAt !== undefined) await setTokenExpiry(tx, started.id, tokenExpiresAt, now)
    const remark =
      ownedElsewhere.length === 0
        ? null
        : `Not added: ${ownedElsewhere.join(', ')}. Another workspace already uses ${ownedElsewhere.length === 1 ? 'this number' : 'these numbers'} through the same app.`
    const unlisted = await unlistedNumbers(tx, started.id)
    const unlistedSyncs = unlisted.length === 0 ? 0 : locked.unlisted_syncs + 1
    const next = later(network, unlistedSyncs === 0 ? syncIntervalMs : waitIfUnlisted(unlistedSyncs))
    await recordSyncSuccess(tx, { ...started, next, listedAt, remark, unlistedSyncs })
    // Even without other changes: the page of a sender shows when its account was synced.
    tx.notify(started.workspace_id, 'senders')
    const senders = numbers.length - ownedElsewhere.length
    return { kind: 'synced', senders, templates: templates.length, remark, unlisted }
  })
}

const later = ({ clock }: Network, ms: number): Date => new Date(clock.now().getTime() + ms)

const newLease = (network: Network): Lease => ({
  until: later(network, leaseMs),
  untilIfParked: later(network, leaseIfParkedMs),
})
