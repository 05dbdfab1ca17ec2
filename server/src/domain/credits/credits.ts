/**
 * Credits: a ledger that is only ever added to, and a balance that is its sum. Both move in one statement, so the balance
 * cannot go below zero and no entry is without its movement.
 */
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { textErrors } from '../../lib/field-errors.ts'
import { newUuid } from '../../lib/ids.ts'
import type { Logger } from '../../lib/logger.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import {
  balanceOf,
  type Disagreement,
  disagreements,
  type EntryRow,
  entriesOfMessage,
  lockBalance,
  moveBalance,
  openBalance,
  unrefunded,
} from './credits.sql.ts'

export { allBalances, balancesSince, creditsSpent } from './credits.sql.ts'
export type { Disagreement, EntryRow }

export const readBalance = async (db: Db, workspaceId: string): Promise<number> =>
  (await balanceOf(db, workspaceId))?.balance ?? 0

/** What a message cost, and what of it was given back. */
export async function findPaymentOf(
  db: Db,
  workspaceId: string,
  messageId: string,
): Promise<{ spent: number; refunded: number; refunded_at: string | null }> {
  const entries = await entriesOfMessage(db, workspaceId, messageId)
  const refund = entries.find(({ kind }) => kind === 'refund')
  return {
    spent: -(entries.find(({ kind }) => kind === 'debit')?.amount ?? 0),
    refunded: refund?.amount ?? 0,
    refunded_at: refund?.created_at.toISOString() ?? null,
  }
}

const mostAtOnce = 1_000_000_000

/** The operator gives credits, or takes some back (a negative amount, never below zero). Returns the new balance. */
export async function giveCredits(
  db: Db,
  clock: Clock,
  workspaceId: string,
  amount: number,
  note: string,
): Promise<number> {
  if (!Number.isInteger(amount) || amount === 0 || Math.abs(amount) > mostAtOnce) {
    refuseParam('amount', 'out_of_range', `The amount must be a whole number up to ${mostAtOnce}, and not 0.`)
  }
  const words = note.trim()
  refuseIfAny(textErrors('note', words, 500))
  await requireWorkspace(db, workspaceId)
  const now = clock.now()
  await openBalance(db, workspaceId)
  const kind = amount > 0 ? 'grant' : 'adjust'
  const entry = {
    id: newUuid(now.getTime()),
    workspaceId,
    kind,
    amount,
    messageId: null,
    note: words,
    at: now,
  } as const
  const moved = await moveBalance(db, entry)
  db.notify(workspaceId, 'credits')
  if (moved) return moved.balance
  const available = await readBalance(db, workspaceId)
  return refuseParam('amount', 'out_of_range', `The workspace has ${available} credits; no more can be taken back.`)
}

/** Pays for a message, within the transaction that keeps it. */
export async function debit(
  db: Db,
  now: Date,
  { workspaceId, messageId, credits }: { workspaceId: string; messageId: string; credits: number },
): Promise<void> {
  if (credits === 0) return
  db.notify(workspaceId, 'credits')
  const id = newUuid(now.getTime())
  const entry = { id, workspaceId, kind: 'debit', amount: -credits, messageId, note: null, at: now } as const
  if (await moveBalance(db, entry)) return
  refuse('insufficient_credits', { details: { required: credits, available: await readBalance(db, workspaceId) } })
}

/**
 * Gives back what failed messages cost, each once, within the transaction that records the failure. Should the handset
 * report such a message later after all, the refund stands: nothing is taken that nobody asked for anew.
 */
export async function refund(
  db: Db,
  now: Date,
  failed: readonly { workspaceId: string; messageId: string }[],
): Promise<void> {
  const byWorkspace = Map.groupBy(failed, ({ workspaceId }) => workspaceId)
  // In order, so that two batches never wait in a circle.
  for (const workspaceId of [...byWorkspace.keys()].sort()) {
    if (!(await lockBalance(db, workspaceId))) continue
    db.notify(workspaceId, 'credits')
    const ids = (byWorkspace.get(workspaceId) ?? []).map(({ messageId }) => messageId)
    for (const { message_id: messageId, amount } of await unrefunded(db, workspaceId, ids)) {
      const id = newUuid(now.getTime())
      await moveBalance(db, { id, workspaceId, kind: 'refund', amount, messageId, note: null, at: now })
    }
  }
}

/** Proves that every balance is the sum of its entries; says loudly where it is not. */
export async function proveLedger(db: Db, log: Logger): Promise<Disagreement[]> {
  const wrong = await disagreements(db)
  for (const { workspace_id: workspaceId, balance, entered } of wrong) {
    const fields = { workspace_id: workspaceId, balance, sum_of_entries: entered }
    log.error({ event: 'credits.balance_wrong', ...fields }, 'a balance is not the sum of its entries')
  }
  return wrong
}
