/**
 * Credits: an append-only ledger, and a balance that is its sum. One statement changes both, so they cannot disagree
 * and the balance cannot fall below zero.
 */
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { textErrors } from '../../lib/text-errors.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import {
  balanceOf,
  type EntryRow,
  entriesOfMessage,
  lockBalance,
  moveBalance,
  openBalance,
  unrefunded,
} from './credits.sql.ts'

export {
  allBalances,
  balancesSince,
  creditsSpent,
  debitSql,
  hadCredits,
  isOverdrawn,
  lockBalance,
  pricedSql,
} from './credits.sql.ts'
export type { EntryRow }

export const readBalance = async (db: Db, workspaceId: string): Promise<number> =>
  (await balanceOf(db, workspaceId))?.balance ?? 0

/** What a message cost, and what was refunded. */
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

const maxAmount = 1_000_000_000

/** Adds credits to a workspace, or removes some (a negative amount, never below zero). Returns the new balance. */
export async function giveCredits(
  db: Db,
  clock: Clock,
  workspaceId: string,
  amount: number,
  note: string,
): Promise<number> {
  if (!Number.isInteger(amount) || amount === 0 || Math.abs(amount) > maxAmount) {
    refuseParam(
      'amount',
      'out_of_range',
      `The amount must be a whole number from -${maxAmount} to ${maxAmount}, except 0.`,
    )
  }
  const trimmedNote = note.trim()
  refuseIfAny(textErrors('note', trimmedNote, 500))
  await requireWorkspace(db, workspaceId)
  const now = clock.now()
  await openBalance(db, workspaceId)
  const kind = amount > 0 ? 'grant' : 'adjust'
  const entry = { id: newUuid(now.getTime()), workspaceId, kind, amount, messageId: null, note: trimmedNote, at: now }
  const moved = await moveBalance(db, entry)
  db.notify(workspaceId, 'credits')
  if (moved) return moved.balance
  const available = await readBalance(db, workspaceId)
  return refuseParam(
    'amount',
    'out_of_range',
    `The workspace has only ${available} credits. You cannot remove more than that.`,
  )
}

/**
 * Refunds failed messages, each once, in the transaction that records the failure. If such a message is reported as
 * delivered later after all, the refund is kept: a workspace is only debited when it sends.
 */
export async function refund(
  db: Db,
  now: Date,
  failed: readonly { workspaceId: string; messageId: string }[],
): Promise<void> {
  const byWorkspace = Map.groupBy(failed, ({ workspaceId }) => workspaceId)
  // Always in the same order, so that two batches cannot deadlock.
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
