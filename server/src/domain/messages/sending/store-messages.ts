import type { Message } from '@parley/contract/message'
import type { Db } from '../../../db/db.ts'
import { subscriberOf } from '../../../db/topic.ts'
import { wakeAnywhere } from '../../../db/wake.ts'
import { newUuid } from '../../../lib/ids.ts'
import { Refusal } from '../../../lib/refuse.ts'
import { debitSql, pricedSql } from '../../credits/credits.ts'
import { type FormToken, saveFormTokens } from '../../flows/save-submissions.ts'
import type { UsableSender } from '../../senders/senders.ts'
import { newlyDue } from './due-numbers.ts'
import { type IdempotentRequest, idOf, maxPerDay, tooManyKeys } from './idempotency.ts'
import { type NewMessage, type StorableMessage, type StoredRow, storeMessagesStatement } from './send.sql.ts'

const store = storeMessagesStatement(pricedSql, debitSql)

/** A message that passed all checks, except that its workspace can pay for it. */
export interface AcceptedMessage {
  message: NewMessage
  sender: UsableSender
  response: Message
  idempotent: IdempotentRequest | null
  form: FormToken | null
}

/** `again`: another request came first. It may have stored a response under the same key, or may have been refused itself. */
export type StoreOutcome = { kind: 'stored' } | { kind: 'again' } | { kind: 'refused'; refusal: Refusal }

/**
 * Stores messages of one request or of many, each with its own outcome. Run it within a transaction if one has a form. Fails if
 * it has to wait for a lock for longer than `lockWaitMs` (null for no limit), and if another transaction spends the credits
 * in the same moment (`isOverdrawn`); then nothing was stored. In order, a message is `again` if those before it, which were
 * not stored, would have spent its credits.
 */
export async function storeMessages(
  db: Db,
  now: Date,
  all: readonly AcceptedMessage[],
  lockWaitMs: number | null,
  payFor: 'cheapest first' | 'in order' = 'cheapest first',
): Promise<StoreOutcome[]> {
  const firsts = firstOfEachKey(all)
  // So that a message that the workspace cannot pay for does not take the credits of the others.
  if (payFor === 'cheapest first') firsts.sort((left, right) => left.message.credits - right.message.credits)
  const rows = await store(db, firsts.map(toRow(now)), { now, keysMax: maxPerDay, lockWaitMs })
  const byNumber = new Map(rows.map((row) => [row.n, row]))
  const outcomes = new Map(firsts.map((each, n) => [each, toOutcome(each, byNumber.get(n), now)]))
  const stored = firsts.filter((each) => outcomes.get(each)?.kind === 'stored')
  const forms = stored.flatMap(({ form }) => form ?? [])
  if (forms.length > 0) await saveFormTokens(db, { forms })
  return all.map((each) => outcomes.get(each) ?? { kind: 'again' })
}

/** Without those whose Idempotency-Key an earlier one has. */
function firstOfEachKey(all: readonly AcceptedMessage[]): AcceptedMessage[] {
  const keys = new Set<string>()
  return all.filter(({ idempotent }) => {
    const id = idempotent && idOf(idempotent)
    if (id === null) return true
    const isFirst = !keys.has(id)
    keys.add(id)
    return isFirst
  })
}

const toRow =
  (now: Date) =>
  ({ message, response, idempotent }: AcceptedMessage, n: number): StorableMessage => ({
    ...message,
    n,
    entryId: newUuid(now.getTime()),
    systemId: idempotent?.scope.systemId ?? null,
    idempotencyKey: idempotent?.key ?? null,
    fingerprint: idempotent?.fingerprint ?? null,
    answer: idempotent && JSON.stringify(response),
  })

function toOutcome({ message: { credits } }: AcceptedMessage, row: StoredRow | undefined, now: Date): StoreOutcome {
  if (row?.outcome === 'stored') return { kind: 'stored' }
  if (row?.outcome === 'limited') return { kind: 'refused', refusal: tooManyKeys(now) }
  // If the balance suffices for this one, a cheaper one used it up on paper, and was not stored because its key is taken.
  if (row?.outcome !== 'unpaid' || credits <= row.available) return { kind: 'again' }
  const details = { required: credits, available: row.available }
  return { kind: 'refused', refusal: new Refusal('insufficient_credits', { details }) }
}

/** Says what was stored to those who show it, and to the outbox. */
export function announce(db: Db, all: readonly AcceptedMessage[], outcomes: readonly StoreOutcome[]): void {
  const stored = all.filter((_, index) => outcomes[index]?.kind === 'stored')
  const workspaceIds = new Set(stored.map(({ message }) => message.workspaceId))
  for (const workspaceId of workspaceIds) {
    db.notify(workspaceId, 'messages')
    db.notify(workspaceId, 'credits')
  }
  if (stored.length === 0) return
  db.afterCommit(() => {
    const numbers = subscriberOf(db, newlyDue)
    for (const { sender, message } of stored) {
      const { id, connectionId, throughput } = sender
      numbers?.set(id, { id, workspaceId: message.workspaceId, connectionId, throughput })
    }
  })
  wakeAnywhere(db, 'send')
}
