/**
 * Us → network. The states of a message's sending, and who moves it:
 *
 *   waiting → claimed        claim: as many of each sender as its pace allows
 *   claimed → calling        durably, before the call; a process that dies before this has sent nothing
 *   calling → (gone)         the network took it or refused it: status, event and refund in one transaction
 *           → waiting        the network refused it for now
 *           → unknown        no answer, or the process died: it may have been sent and is never sent again
 *   unknown → (gone)         a status, which carries our id, settles it; after an hour without one it has failed
 */
import { databaseNow } from '../../../db/database-clock.ts'
import { batched } from '../../../lib/batch.ts'
import { newUuid } from '../../../lib/ids.ts'
import type { Logger } from '../../../lib/logger.ts'
import { buildMessage } from '../../../whatsapp/outgoing.ts'
import { classifySendOutcome, type SendDecision } from '../../../whatsapp/send-retry-policy.ts'
import type { Network } from '../../connections/network.ts'
import { holdPair } from './holds.sql.ts'
import {
  type Claimed,
  claimDue,
  dueSenders,
  expiredSends,
  insertPaces,
  markCalling,
  recoverExpiredLeases,
  requeue,
  type Wanted,
} from './outbox.sql.ts'
import { PairPaces, paceOf } from './pace.ts'
import { type Called, failExpired, recordCalls, unknownForMs } from './record-calls.ts'

export { activeHolds } from './holds.sql.ts'
export { countOutbox } from './outbox.sql.ts'

/** Moments between two steps, where a test may have the process die by throwing. */
export type Step = 'claimed' | 'calling' | 'answered' | 'settled'

export interface OutboxOptions {
  onStep?: (step: Step, messageId: string) => void
}

export interface Outbox {
  /** Starts the calls that are due and says how many. */
  turn(): Promise<number>
  /** Sees to leases that ran out, and to what has to be given up. */
  tidy(): Promise<void>
  /** Sends until nothing is due and no call is under way. */
  drain(): Promise<void>
  /** Takes nothing more and waits for the calls under way. */
  stop(): Promise<void>
}

/** Between the claim and the call there are but a few statements. */
const claimMs = 20_000
/** Longer than any call: see the client's deadline. */
const callMs = 90_000
const maxUnderWay = 256
const stopMs = 8_000

export function newOutbox(network: Network, log: Logger, { onStep = () => {} }: OutboxOptions = {}): Outbox {
  const { db, clock, client, vault } = network
  const pairs = new PairPaces()
  const underWay = new Map<string, number>()
  const running = new Set<Promise<void>>()
  /** Senders that have a pace in the database. */
  const known = new Set<string>()
  let stopping = false

  const begin = batched(async (claimed: Claimed[]) => {
    const rows = await markCalling(db, claimed, later(callMs))
    const ours = new Set(rows.map((row) => row.message_id))
    return claimed.map(({ messageId }) => ours.has(messageId))
  })
  const settle = batched((calls: Called[]) => settleEach(calls), { maxItems: 200, maxConcurrent: 2 })

  function later(ms: number): Date {
    return new Date(clock.now().getTime() + ms)
  }

  async function settleEach(calls: readonly Called[]): Promise<({ error: unknown } | null)[]> {
    try {
      await db.transaction((tx) => recordCalls(tx, clock.now(), calls))
      return calls.map(() => null)
    } catch (error) {
      if (calls.length === 1) return [{ error }]
      const outcomes = []
      for (const call of calls) outcomes.push(...(await settleEach([call])))
      return outcomes
    }
  }

  async function wantedNow(): Promise<Wanted[]> {
    const due = (await dueSenders(db, clock.now())).map((sender) => ({ sender, order: Math.random() }))
    let room = maxUnderWay - running.size
    // In no particular order, so that where there is not room for all, nobody is always last.
    return due
      .sort((left, right) => left.order - right.order)
      .flatMap(({ sender }) => {
        const { gapSeconds, burst, atOnce } = paceOf(sender.throughput)
        const most = Math.min(room, burst, atOnce - (underWay.get(sender.id) ?? 0))
        room -= Math.max(0, most)
        return most > 0 ? [{ senderId: sender.id, gapSeconds, burst, most }] : []
      })
  }

  async function send(claimed: Claimed): Promise<void> {
    const { messageId, senderId, recipient, connectionId } = claimed
    onStep('claimed', messageId)
    const now = clock.now()
    const pair = stopping ? null : pairs.take(senderId, recipient, now.getTime())
    if (!pair?.taken) {
      const dueAt = pair ? new Date(pair.againMs) : now
      await requeue(db, [{ ...claimed, dueAt, error: null }])
      // With all that is meant for the same person, or it would be claimed in vain and use up the sender's pace.
      if (pair) await holdPair(db, senderId, recipient, dueAt)
      return
    }
    const access = await vault.accessFor(connectionId)
    if (!access) throw new Error(`the connection ${connectionId} is gone`)
    const message = build(claimed)
    if (message.kind === 'failed') return keep({ claimed, judgement: message, at: clock.now() })
    if (!(await begin(claimed))) return
    onStep('calling', messageId)
    const at = clock.now()
    const outcome = await client.sendMessage(access, claimed.phoneNumberId, message.body)
    onStep('answered', messageId)
    await keep({ claimed, judgement: classifySendOutcome(outcome, claimed.attempts + 1), at })
    onStep('settled', messageId)
  }

  async function keep(call: Called): Promise<void> {
    const failure = await settle(call)
    if (failure) throw failure.error
    const { judgement, claimed } = call
    db.process.metrics.add('sends', judgement.kind)
    if (judgement.kind === 'sent') return
    const { messageId, senderId, workspaceId } = claimed
    const ids = { message_id: messageId, sender_id: senderId, workspace_id: workspaceId }
    const fields = { ...ids, outcome: judgement.kind, network_code: judgement.error.code }
    const scope = 'scope' in judgement && { scope: judgement.scope }
    log.warn({ event: 'outbox.not_sent', ...fields, ...scope }, 'the network did not accept a message')
  }

  function start(claimed: Claimed): void {
    const { senderId, messageId } = claimed
    underWay.set(senderId, (underWay.get(senderId) ?? 0) + 1)
    const done = send(claimed)
      // Its lease runs out: what had not left is tried again, what may have left is unknown.
      .catch((error: unknown) =>
        log.warn({ event: 'outbox.send_failed', err: error, message_id: messageId }, 'sending failed unexpectedly'),
      )
      .finally(() => {
        running.delete(done)
        const left = (underWay.get(senderId) ?? 1) - 1
        if (left > 0) underWay.set(senderId, left)
        else underWay.delete(senderId)
      })
    running.add(done)
  }

  const outbox: Outbox = {
    async turn() {
      const wanted = stopping ? [] : await wantedNow()
      if (wanted.length === 0) return 0
      const fresh = wanted.map(({ senderId }) => senderId).filter((id) => !known.has(id))
      if (fresh.length > 0) await insertPaces(db, fresh)
      for (const id of fresh) known.add(id)
      const claimed = await claimDue(db, wanted, clock.now(), later(claimMs), newUuid())
      for (const each of claimed) start(each)
      return claimed.length
    },
    async tidy() {
      const now = await databaseNow(db, clock)
      await recoverExpiredLeases(db, now, new Date(now.getTime() + unknownForMs))
      const lost = await expiredSends(db, now, 500)
      if (lost.length > 0) await db.transaction((tx) => failExpired(tx, now, lost))
    },
    async drain() {
      await outbox.tidy()
      while ((await outbox.turn()) > 0 || running.size > 0) await Promise.all(running)
    },
    async stop() {
      stopping = true
      const late = new Promise<void>((resolve) => setTimeout(resolve, stopMs).unref())
      await Promise.race([Promise.all(running), late])
    },
  }
  return outbox
}

type Built = { kind: 'built'; body: ReturnType<typeof buildMessage> } | (SendDecision & { kind: 'failed' })

/** A template may have changed since the message was taken, so that it cannot be built any more. */
function build({ messageId, content, template }: Claimed): Built {
  try {
    const body = buildMessage({ ...content, messageId: `msg_${messageId}`, ...(template && { template }) })
    return { kind: 'built', body }
  } catch (error) {
    const details = error instanceof Error ? error.message : String(error)
    const message = 'The message could not be put into the network’s words.'
    return { kind: 'failed', scope: 'message', error: { code: 'unsendable', title: 'Unsendable', message, details } }
  }
}
