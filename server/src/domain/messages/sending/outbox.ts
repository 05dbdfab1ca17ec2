/**
 * Sends messages to the network (WhatsApp). The states of a row in the outbox:
 *
 *   waiting → claimed        leased by a process, as many per sender as its pace allows
 *   claimed → calling        committed before the call; a process that dies before this has sent nothing
 *   calling → (deleted)      the network accepted or refused the message: status, event and refund in one transaction
 *           → waiting        a temporary error: the message is retried
 *           → unknown        no response, or the process died: it may have been sent, so it is never sent again
 *   unknown → (deleted)      a status with our message ID arrives; without one, the message fails after an hour
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isLockTimeout } from '../../../db/connect/brief-transaction.ts'
import { isDatabaseAway } from '../../../db/connect/pool.ts'
import { databaseNow } from '../../../db/database-clock.ts'
import type { Db } from '../../../db/db.ts'
import { inBatches } from '../../../db/in-batches.ts'
import { type Clock, startTimer } from '../../../lib/clock.ts'
import { newUuid } from '../../../lib/ids.ts'
import { batched } from '../../../sharing/batch.ts'
import { FairShares } from '../../../sharing/fair-shares.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { GraphAccess } from '../../../whatsapp/graph/client.ts'
import { withNetworkIds } from '../../../whatsapp/incoming/media-references.ts'
import { buildMessage } from '../../../whatsapp/outgoing/outgoing.ts'
import { classifySendOutcome, type SendDecision } from '../../../whatsapp/outgoing/send-retry-policy.ts'
import type { Network } from '../../connections/network.ts'
import { newMediaUploads } from '../../files/network-media.ts'
import type { DueNumber } from './due-numbers.ts'
import { holdPair } from './holds.sql.ts'
import { decideAgain, noMedia, prepareMedia } from './message-media.ts'
import {
  type ClaimedMessage,
  claimDue,
  dueSenders,
  expiredSends,
  insertPaces,
  markCalling,
  recoverExpiredLeases,
  requeue,
  returnClaims,
  type SenderQuota,
} from './outbox.sql.ts'
import { PairPaces } from './pace.ts'
import { type CompletedCall, failExpired, recordCalls, unknownForMs } from './record-calls.ts'
import { claimWithSlots } from './slots.ts'

export { type ActiveHold, activeHolds } from './holds.sql.ts'
export { countOutbox } from './outbox.sql.ts'
export { pacedUntil } from './pace.sql.ts'

/** Points at which a test can simulate a crash by throwing. */
export type Step = 'claimed' | 'calling' | 'responded' | 'recorded'

export interface OutboxOptions {
  onStep?: (step: Step, messageId: string) => void
  /** Maximum concurrent calls of this process. */
  slotCount?: number
}

export interface Outbox {
  /** Claims due messages, of these numbers or of all that have some, and starts their calls. Returns how many. */
  sendDue(numbers?: readonly DueNumber[]): Promise<number>
  /** Sends until no message is due and no call is in flight. */
  drain(): Promise<void>
  /** Claims nothing more, returns what is claimed and not called, and waits for the calls in flight. */
  stop(): Promise<void>
}

/** The lease of a claim. Only a few statements run between the claim and the call. */
const claimMs = 20_000
/** The lease of a call. It is longer than the client's timeout. */
const callMs = 90_000
/**
 * Concurrent calls of a process. A number alone may have a quarter of them: 256 are enough for 1000 messages per second if the
 * network takes a quarter of a second to respond. The client has a connection for each.
 */
const defaultSlotCount = 1024
/** How long a stop waits for calls in flight. With the steps after it, a process stops within 15 seconds. */
const stopMs = 6_000
/** How far apart two statements that record results begin under load, so that more results share one. */
const recordGapMs = 15
/** Messages that one transaction fails. */
const expiredMax = 500
/** The pause before a statement is repeated while the database is away. */
const repeatAfterMs = 200

export function newOutbox(
  network: Network,
  log: Logger,
  { onStep = () => {}, slotCount = defaultSlotCount }: OutboxOptions = {},
): Outbox {
  const { db, clock, client, vault } = network
  const pairs = new PairPaces()
  const media = newMediaUploads(network, log)
  const slots = new FairShares(slotCount)
  const running = new Set<Promise<void>>()
  /** Claimed, and not known to be marked as calling. */
  const unmarked = new Set<ClaimedMessage>()
  /** Senders that have a row in sender_paces. */
  const paced = new Set<string>()
  let stopping = false

  const markCallingBatched = batched(
    async (claimed: ClaimedMessage[]) => {
      const rows = await repeated(
        () => markInTime(claimed),
        () => !stopping,
      )
      const ours = new Set(rows.map((row) => row.message_id))
      return claimed.map(({ messageId }) => ours.has(messageId))
    },
    // One may wait for the disk while the next one begins.
    { maxConcurrent: 2 },
  )
  const recordBatched = batched((calls: CompletedCall[]) => recordEach(calls), { maxItems: 200, gapMs: recordGapMs })

  /** If the response comes late, the lease may have ended, and the message may have failed. So marks them again. */
  async function markInTime(claimed: readonly ClaimedMessage[]): Promise<{ message_id: string }[]> {
    for (;;) {
      const elapsed = startTimer(clock)
      const rows = await markCalling(db, claimed, later(callMs))
      if (elapsed() < callMs / 2) return rows
    }
  }

  function later(ms: number): Date {
    return new Date(clock.now().getTime() + ms)
  }

  /**
   * Repeats a statement or transaction while the database is away or has no resources for it. It may have been committed
   * although the response was lost, so it must do nothing the second time.
   */
  async function repeated<T>(run: () => Promise<T>, isWanted: (error: unknown) => boolean = () => true): Promise<T> {
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (!isWanted(error) || !isTemporary(error)) throw error
        await sleep(repeatAfterMs)
      }
    }
  }

  /**
   * If a batch fails, records each call alone, so that one bad call does not affect the others. Continues while the process
   * stops: without its result, a message counts as unknown, and a message that WhatsApp rejected temporarily would be lost.
   */
  async function recordEach(calls: readonly CompletedCall[]): Promise<({ error: unknown } | null)[]> {
    try {
      // With several calls, one of them may wait for a lock that the others do not need.
      const isWanted = (error: unknown) => calls.length === 1 || !isLockTimeout(error)
      await repeated(() => recordCalls(db, clock.now(), calls), isWanted)
      return calls.map(() => null)
    } catch (error) {
      if (calls.length === 1) return [{ error }]
      const outcomes = []
      for (const call of calls) outcomes.push(...(await recordEach([call])))
      return outcomes
    }
  }

  /** Claims due messages of every workspace and number in turn. Each message has a slot until its call has ended. */
  async function claim(numbers?: readonly DueNumber[]): Promise<Claim[]> {
    const due = (numbers ?? (await dueSenders(db, clock.now()))).map((sender) => ({ sender, order: Math.random() }))
    // Random order, so that no sender is always last when the slots do not suffice for all.
    const inOrder = due.sort((left, right) => left.order - right.order).map(({ sender }) => sender)
    const accesses = new Map<string, Claim['access']>()
    const claimed = await claimWithSlots(slots, inOrder, (quotas) => {
      // Both at once. If a number has moved to another account, that one is read too.
      for (const { connectionId: id } of inOrder) accesses.set(id, accesses.get(id) ?? readAccess(id))
      return claimWithin(quotas)
    })
    return claimed.map((each) => ({
      claimed: each,
      access: accesses.get(each.connectionId) ?? readAccess(each.connectionId),
    }))
  }

  function readAccess(connectionId: string): Claim['access'] {
    const access = vault.accessFor(connectionId)
    // The calls that need it report the error.
    access.catch(() => {})
    return access
  }

  async function claimWithin(quotas: readonly SenderQuota[]): Promise<ClaimedMessage[]> {
    const unpaced = quotas.map(({ senderId }) => senderId).filter((id) => !paced.has(id))
    if (unpaced.length > 0) await insertPaces(db, unpaced)
    for (const id of unpaced) paced.add(id)
    return claimDue(db, quotas, clock.now(), later(claimMs), newUuid())
  }

  async function send({ claimed, access: reading }: Claim): Promise<void> {
    const { messageId, senderId, recipient } = claimed
    onStep('claimed', messageId)
    const hasFiles = claimed.content.uploads !== undefined
    const prepared = hasFiles ? await prepareMedia(media, claimed, await accessOf(claimed, reading)) : noMedia
    if (prepared.kind === 'wait') {
      return void (await requeue(db, { leased: [{ ...claimed, dueAt: later(prepared.afterMs), error: null }] }))
    }
    if (prepared.kind === 'not_sent') return record({ claimed, decision: prepared.decision, at: clock.now() })
    const now = clock.now()
    const pair = stopping ? null : pairs.take(senderId, recipient, now.getTime())
    if (!pair?.taken) {
      const dueAt = pair ? new Date(pair.retryAtMs) : now
      await requeue(db, { leased: [{ ...claimed, dueAt, error: null }] })
      // Hold all messages to this recipient, or they would be claimed for nothing and use up the sender's pace.
      if (pair) await holdPair(db, senderId, recipient, dueAt)
      return
    }
    const access = await accessOf(claimed, reading)
    const message = build(claimed, prepared.networkIds)
    if (message.kind === 'failed') return record({ claimed, decision: message, at: clock.now() })
    if (!(await markCallingBatched(claimed))) return
    unmarked.delete(claimed)
    onStep('calling', messageId)
    // Nothing was sent yet.
    if (stopping) return void (await requeue(db, { leased: [{ ...claimed, dueAt: clock.now(), error: null }] }))
    const { tracing } = db.telemetry
    const startMs = tracing?.nowMs() ?? 0
    const outcome = await client.sendMessage(access, claimed.phoneNumberId, message.body)
    const at = clock.now()
    onStep('responded', messageId)
    const decided = classifySendOutcome(outcome, claimed.attempts + 1)
    tracing?.call({
      messageId,
      workspaceId: claimed.workspaceId,
      senderId,
      attempt: claimed.attempts + 1,
      startMs,
      outcome: decided.kind,
      errorCode: decided.kind === 'sent' ? null : decided.error.code,
    })
    const { networkIds } = prepared
    const decision = networkIds.size === 0 ? decided : await decideAgain(media, claimed, access, networkIds, decided)
    await record({ claimed, decision, at })
    onStep('recorded', messageId)
  }

  async function record(call: CompletedCall): Promise<void> {
    const failure = await recordBatched(call)
    if (failure) throw failure.error
    const { decision, claimed } = call
    db.telemetry.metrics.add('sends', decision.kind)
    if (decision.kind === 'sent') return
    const { messageId, senderId, workspaceId } = claimed
    const ids = { message_id: messageId, sender_id: senderId, workspace_id: workspaceId }
    const fields = { ...ids, outcome: decision.kind, network_code: decision.error.code }
    const scope = 'scope' in decision && { scope: decision.scope }
    log.warn({ event: 'outbox.not_sent', ...fields, ...scope }, 'WhatsApp did not accept a message')
  }

  function start(claim: Claim): void {
    const { claimed } = claim
    const { senderId, messageId, workspaceId } = claimed
    unmarked.add(claimed)
    const done = send(claim)
      // The lease expires. A message that was not sent yet is retried; a message that may have been sent becomes unknown.
      .catch((error: unknown) =>
        log.warn({ event: 'outbox.send_failed', err: error, message_id: messageId }, 'sending failed unexpectedly'),
      )
      .finally(() => {
        running.delete(done)
        unmarked.delete(claimed)
        slots.releaseFor(senderId, workspaceId)
      })
    running.add(done)
  }

  async function giveBack(claimed: readonly ClaimedMessage[]): Promise<void> {
    if (claimed.length > 0) await returnClaims(db, { leased: claimed, now: clock.now() })
  }

  const outbox: Outbox = {
    async sendDue(numbers) {
      const claims = stopping ? [] : await claim(numbers)
      if (stopping) await giveBack(claims.map(({ claimed }) => claimed))
      else for (const each of claims) start(each)
      return claims.length
    },
    async drain() {
      await recoverSends(db, clock)
      while ((await outbox.sendDue()) > 0 || running.size > 0) await Promise.all(running)
    },
    async stop() {
      stopping = true
      media.stop()
      // First, so that another process sends them without delay. A call in flight keeps its lease: if it gets no response in
      // time, the lease ends as unknown, and the message is never sent again.
      const returned = giveBack([...unmarked]).catch(() => {})
      await Promise.race([Promise.all([returned, ...running]), sleep(stopMs, undefined, { ref: false })])
    },
  }
  return outbox
}

/** Recovers expired leases, and fails messages that are too late or whose outcome stays unknown. */
export async function recoverSends(db: Db, clock: Clock): Promise<void> {
  const now = await databaseNow(db, clock)
  await recoverExpiredLeases(db, now, new Date(now.getTime() + unknownForMs))
  await inBatches(async (limit) => {
    const expired = await expiredSends(db, now, limit)
    if (expired.length > 0) await db.transaction((tx) => failExpired(tx, now, expired))
    return expired.length
  }, expiredMax)
}

/** A claimed message and the access to its account, which is read at the same time. */
interface Claim {
  claimed: ClaimedMessage
  access: Promise<GraphAccess | undefined>
}

async function accessOf({ connectionId }: ClaimedMessage, reading: Claim['access']): Promise<GraphAccess> {
  const access = await reading
  if (!access) throw new Error(`connection ${connectionId} not found`)
  return access
}

/** Rolled back for a deadlock (40), resources (53), a lock (55), a time limit or a shutdown (57), or a fault of the disk (58). */
export const isTemporary = (error: unknown): boolean =>
  isDatabaseAway(error) || /^(40|53|55|57|58)/.test((error as { code?: string }).code ?? '')

type BuildResult = { kind: 'built'; body: ReturnType<typeof buildMessage> } | (SendDecision & { kind: 'failed' })

/** Building fails if the template was changed after the message was accepted. */
function build({ messageId, content, template }: ClaimedMessage, networkIds: ReadonlyMap<string, string>): BuildResult {
  try {
    const body = buildMessage({ ...content, messageId: `msg_${messageId}`, ...(template && { template }) })
    return { kind: 'built', body: withNetworkIds(body, networkIds) }
  } catch (error) {
    const details = error instanceof Error ? error.message : String(error)
    const message = 'The message could not be converted into a WhatsApp request.'
    const unsendable = { code: 'unsendable', title: 'Unsendable', message, details }
    return { kind: 'failed', scope: 'message', error: unsendable, holdMs: () => 0 }
  }
}
