/**
 * Bringing what we show in line with what the network lists. A synchronisation takes a ticket and a lease in one short
 * statement, asks the network with no transaction open, and settles in one short transaction:
 *
 *   due → leased → settled, due again in six hours
 *                → failed, what was there stays, due again after a growing wait
 *                → overtaken by one with a later ticket: nothing is written
 */
import { isUuid } from '../../lib/ids.ts'
import type { Logger } from '../../lib/logger.ts'
import { type Loop, startLoop } from '../../lib/loop.ts'
import { refuse } from '../../lib/refuse.ts'
import type { ListedNumber, ListedTemplate } from '../../whatsapp/listings.ts'
import { keepSenders } from '../senders/senders.ts'
import { keepTemplates } from '../templates/templates.ts'
import { wordsOf } from './failure.ts'
import type { Network } from './network.ts'
import { claimDue, claimOne, holdTurn, type Started, settleFailed, settleSynced } from './sync.sql.ts'

export type SyncOutcome =
  | { kind: 'synced'; senders: number; templates: number; remark: string | null }
  | { kind: 'failed'; why: string; nextAt: Date }
  | { kind: 'overtaken' }

export const everyMs = 6 * 3_600_000
/** Longer than any listing takes in practice; one that does take longer is overtaken, not doubled. */
export const leaseMs = 10 * 60_000
const lookMs = 5_000
const atOnce = 4
const stopMs = 5_000

/** Synchronises one connection now. */
export async function syncConnection(network: Network, id: string): Promise<SyncOutcome> {
  const leaseUntil = later(network, leaseMs)
  const started = isUuid(id) ? await claimOne(network.db, id, leaseUntil) : undefined
  if (!started) return refuse('not_found', { message: `There is no connection ${id}.` })
  return runSync(network, started, leaseUntil)
}

/** Synchronises until nothing is due, and says how many it were. */
export async function drainSyncs(network: Network, log: Logger, isStopping = () => false): Promise<number> {
  let done = 0
  while (!isStopping()) {
    const leaseUntil = later(network, leaseMs)
    const claimed = await claimDue(network.db, network.clock.now(), leaseUntil, atOnce)
    if (claimed.length === 0) break
    await Promise.all(claimed.map((started) => syncAndTell(network, log, started, leaseUntil)))
    done += claimed.length
  }
  return done
}

export function startSyncLoop(network: Network, log: Logger): Loop {
  let stopping = false
  const loop = startLoop('synchronise', log, lookMs, async () => {
    await drainSyncs(network, log, () => stopping)
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

async function syncAndTell(network: Network, log: Logger, started: Started, leaseUntil: Date): Promise<void> {
  const connectionId = started.id
  try {
    const outcome = await runSync(network, started, leaseUntil)
    if (outcome.kind === 'failed')
      log.warn({ connectionId, why: outcome.why }, 'a connection could not be synchronised')
    else log.debug({ connectionId, outcome: outcome.kind }, 'a connection was synchronised')
  } catch (error) {
    // Its lease runs out by itself; the others go on.
    log.warn({ err: error, connectionId }, 'a connection could not be synchronised')
  }
}

async function runSync(network: Network, started: Started, leaseUntil: Date): Promise<SyncOutcome> {
  const { db, clock, client, vault } = network
  const access = await vault.accessFor(started.id)
  if (!access) throw new Error(`the connection ${started.id} is gone`)
  const listedAt = clock.now()
  const [numbers, templates] = await Promise.all([
    client.listPhoneNumbers(access, started.waba_id),
    client.listTemplates(access, started.waba_id),
  ])
  if (numbers.kind === 'ok' && templates.kind === 'ok') {
    return settle(network, started, leaseUntil, { numbers: numbers.value, templates: templates.value, listedAt })
  }
  const failure = numbers.kind !== 'ok' ? numbers : templates
  if (failure.kind === 'ok') throw new Error('one of the two failed')
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : null
  const nextAt = later(network, waitAfter(started.sync_failures + 1, retryAfterMs))
  const why = wordsOf(failure, access)
  await settleFailed(db, started, why, nextAt)
  return { kind: 'failed', why, nextAt }
}

function settle(
  network: Network,
  started: Started,
  leaseUntil: Date,
  listed: { numbers: ListedNumber[]; templates: ListedTemplate[]; listedAt: Date },
): Promise<SyncOutcome> {
  const { numbers, templates, listedAt } = listed
  const owner = { workspaceId: started.workspace_id, connectionId: started.id, appId: started.app_id }
  return network.db.transaction(async (tx) => {
    if (!(await holdTurn(tx, started))) return { kind: 'overtaken' }
    const now = network.clock.now()
    const { notOurs } = await keepSenders(tx, owner, numbers, now)
    await keepTemplates(tx, owner, templates, now)
    const remark =
      notOurs.length === 0 ? null : `Another workspace has ${notOurs.join(', ')} through the same app; it stays there.`
    await settleSynced(tx, started, leaseUntil, later(network, everyMs), listedAt, remark)
    return { kind: 'synced', senders: numbers.length - notOurs.length, templates: templates.length, remark }
  })
}

const later = ({ clock }: Network, ms: number): Date => new Date(clock.now().getTime() + ms)
