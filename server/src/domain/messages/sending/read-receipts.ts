/**
 * Marks inbound messages as read at the network: a receipt is claimed within the pace of its number, the network is called
 * with no transaction open, and the row is deleted. If the process dies, another one calls again when the lease has ended:
 * marking a message as read twice does no harm. What the network refuses is only logged.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Loop, startLoop } from '../../../db/loop.ts'
import { newUuid } from '../../../lib/ids.ts'
import { FairShares } from '../../../sharing/fair-shares.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { CallFailure } from '../../../whatsapp/graph/call.ts'
import { classifySendOutcome, type SendDecision } from '../../../whatsapp/outgoing/send-retry-policy.ts'
import type { Network } from '../../connections/network.ts'
import { insertPaces } from './outbox.sql.ts'
import { holdTargetOf } from './pace.ts'
import {
  type ClaimedReceipt,
  claimReceipts,
  type DueReceipts,
  deleteReceipt,
  retryReceipt,
  sendersWithReceipts,
} from './read-receipts.sql.ts'
import { claimWithSlots } from './slots.ts'

export interface ReadReceipts {
  /** Claims due receipts and starts their calls. Returns how many. */
  turn(): Promise<number>
  /** Works until no receipt is due and no call is in flight. */
  drain(): Promise<void>
  /** Claims nothing more, and waits for the calls in flight. */
  stop(): Promise<void>
}

/** Longer than the client's timeout. */
const leaseMs = 90_000
/** Calls of a process at a time. Few, because messages use the same connections: the client has about 70 more than they need. */
const slotCount = 32
/** WhatsApp accepts it for 30 days. But a receipt that is a day late helps no one, and must not delay new ones after an outage. */
const expireAfterMs = 24 * 3_600_000
/** How long WhatsApp shows the typing indicator. A later one would be wrong. */
const typingMs = 25_000
/** How long a stop waits for calls in flight, twice. What gets no response in time is called again by another process. */
const stopMs = 3_000

export function newReadReceipts(network: Network, log: Logger): ReadReceipts {
  const { db, clock, client, vault } = network
  const slots = new FairShares(slotCount)
  const running = new Set<Promise<void>>()
  /** Senders, connections and apps whose last call failed, and until when they wait. */
  const holds = new Map<string, { untilMs: number; failures: number }>()
  let stopping = false

  async function claim(): Promise<ClaimedReceipt[]> {
    const now = clock.now()
    const due = (await sendersWithReceipts(db, now)).filter((sender) => !isHeld(sender, now.getTime()))
    return claimWithSlots(slots, due, async (quotas) => {
      const senderIds = quotas.map(({ senderId }) => senderId)
      await insertPaces(db, senderIds)
      return claimReceipts(db, { quotas, now, leaseUntil: new Date(now.getTime() + leaseMs), lease: newUuid() })
    })
  }

  const isHeld = ({ id, connectionId, appId }: DueReceipts, nowMs: number): boolean =>
    [id, connectionId, appId].some((subject) => (holds.get(subject)?.untilMs ?? 0) > nowMs)

  async function work(receipt: ClaimedReceipt): Promise<void> {
    // It was claimed while the process began to stop: another one calls.
    if (stopping) return void (await retryReceipt(db, receipt, clock.now()))
    const ageMs = clock.now().getTime() - receipt.requestedAt.getTime()
    if (ageMs >= expireAfterMs) return drop(receipt, 'expired', null)
    const access = await vault.accessFor(receipt.connectionId)
    if (!access) throw new Error(`connection ${receipt.connectionId} not found`)
    const { phoneNumberId, waMessageId, typing } = receipt
    const outcome = await client.markAsRead(access, phoneNumberId, waMessageId, typing && ageMs < typingMs)
    if (outcome.kind === 'ok') {
      for (const subject of [receipt.senderId, receipt.connectionId, receipt.appId]) holds.delete(subject)
      return drop(receipt, 'marked', null)
    }
    const decision = classify(outcome, receipt.attempts)
    // A number whose calls get no response must not hold others.
    const target = outcome.kind === 'unknown' ? 'sender' : holdTargetOf(decision.scope, decision.kind === 'failed')
    if (target !== 'none' && target !== 'pair') hold(receipt, target, decision)
    if (decision.kind === 'failed') return drop(receipt, 'refused', decision.error.code)
    db.telemetry.metrics.add('read receipts', 'retried')
    await retryReceipt(db, receipt, new Date(clock.now().getTime() + decision.afterMs))
  }

  async function drop(
    receipt: ClaimedReceipt,
    outcome: 'marked' | 'refused' | 'expired',
    code: unknown,
  ): Promise<void> {
    await deleteReceipt(db, receipt)
    db.telemetry.metrics.add('read receipts', outcome)
    if (outcome === 'marked') return
    const { messageId, senderId, workspaceId, attempts } = receipt
    const ids = { message_id: messageId, sender_id: senderId, workspace_id: workspaceId }
    const fields = { ...ids, outcome, attempts, network_code: code }
    log.warn({ event: 'read_receipt.not_sent', ...fields }, 'WhatsApp did not mark a message as read')
  }

  /** In this process only: if others call, they get the same error. */
  function hold(receipt: ClaimedReceipt, target: 'sender' | 'connection' | 'app', { holdMs }: NotMarked): void {
    const subject = { sender: receipt.senderId, connection: receipt.connectionId, app: receipt.appId }[target]
    const failures = (holds.get(subject)?.failures ?? 0) + 1
    holds.set(subject, { untilMs: clock.now().getTime() + holdMs(failures), failures })
  }

  function start(receipt: ClaimedReceipt): void {
    const done = work(receipt)
      // The lease expires, and it is tried again.
      .catch((error: unknown) => {
        const fields = { event: 'read_receipt.failed', err: error, message_id: receipt.messageId } as const
        log.warn(fields, 'marking a message as read failed unexpectedly')
      })
      .finally(() => {
        running.delete(done)
        slots.releaseFor(receipt.senderId, receipt.workspaceId)
      })
    running.add(done)
  }

  const receipts: ReadReceipts = {
    async turn() {
      if (stopping) return 0
      const claimed = await claim()
      for (const each of claimed) start(each)
      return claimed.length
    },
    async drain() {
      while ((await receipts.turn()) > 0 || running.size > 0) await Promise.all(running)
    },
    async stop() {
      stopping = true
      await Promise.race([Promise.all(running), sleep(stopMs, undefined, { ref: false })])
    },
  }
  return receipts
}

type NotMarked = Extract<SendDecision, { kind: 'retry' | 'failed' }>

/** As for a message. But a call without a response, which may have succeeded, can be repeated. */
const classify = (outcome: CallFailure, attempts: number): NotMarked =>
  // Only a call that succeeded is `sent`, and only one without a response is `unknown`.
  classifySendOutcome(
    outcome.kind === 'unknown' ? { kind: 'unreachable', why: outcome.why } : outcome,
    attempts,
  ) as NotMarked

/** A receipt that this process stored is claimed immediately; the poll finds those of other processes, and retries. */
const pollMs = 500
/**
 * The pause between two claims. A claim takes at most a tenth of the messages that a number may send in a second, so receipts
 * leave at least half of its pace to messages.
 */
const busyMs = 200

export function startReadReceipts(network: Network, log: Logger): Pick<Loop, 'stop'> {
  const receipts = newReadReceipts(network, log)
  const loop = startLoop({ db: network.db, log }, 'mark as read', pollMs, async () => {
    const hasClaimed = (await receipts.turn()) > 0
    if (hasClaimed) await sleep(busyMs)
    return { nextInMs: hasClaimed ? 0 : pollMs }
  })
  return {
    async stop() {
      // First the calls in flight, then the claims of the last run.
      await Promise.all([receipts.stop(), loop.stop()])
      await receipts.stop()
    },
  }
}
