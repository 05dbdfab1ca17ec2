import { setTimeout as sleep } from 'node:timers/promises'
import { type BatchId, BatchWriter } from '../../../../db/batch-writer.ts'
import type { Db } from '../../../../db/db.ts'
import { withPrefix } from '../../../../lib/ids.ts'
import type { OutboundErrorKind } from '../../../../net/outbound-error.ts'
import type { Logger } from '../../../../telemetry/logger.ts'
import { recordAuditEntry, system } from '../../../audit/audit.ts'
import { addNotification } from '../../../mail/notifications.ts'
import { disableEndpoint } from '../hold/hold.ts'
import { countSteps } from './durations.ts'
import {
  type AttemptRow,
  type EndpointHealth,
  type FailureRunRow,
  type HourRow,
  recordAttempts,
  recordSuccesses,
  storeResponses,
} from './record-attempts.sql.ts'
import { disabledReason, failureRunOf, failuresMax } from './retry-policy.ts'

export type EndedAttempt = AttemptRow & {
  fault: OutboundErrorKind | null
  hasTurn: boolean
  /** When its lease ends in the database. */
  leaseUntilMs: number
  /** Called when the attempt is recorded and, if this was one failure too many, its endpoint is disabled; or when it is dropped. */
  onRecorded?: () => void
}

const batchMax = 400
/**
 * Recordings begin at least this far apart, so that more attempts share one; after a pause the next begins immediately.
 * If the process is killed, unrecorded attempts are delivered again. A recording costs PostgreSQL as much as 30 attempts
 * in it, whatever their number.
 */
const recordGapMs = 15

/**
 * Records the results of attempts in batches and in order. A batch that fails is retried until it succeeds, so nothing is
 * lost while the database is unreachable. It is retried unchanged and under its ID: it may have been recorded although the
 * response was lost.
 */
export class AttemptWriter {
  readonly #db: Db
  readonly #log: Logger
  readonly #writer = new BatchWriter()
  #waiting: EndedAttempt[] = []
  #writing: Promise<void> | undefined
  #flushNow: (() => void) | undefined
  /** When the last recording began, in `performance.now()` time. */
  #lastMs = Number.NEGATIVE_INFINITY
  readonly #onProgress: () => void

  constructor(db: Db, log: Logger, onProgress: () => void) {
    this.#db = db
    this.#log = log
    this.#onProgress = onProgress
  }

  /** Attempts that are not recorded yet. */
  get backlog(): number {
    return this.#waiting.length
  }

  /** Whether the lease of an attempt that is not recorded has ended. A claim could take its delivery, and make it again. */
  hasExpired(now: Date): boolean {
    return this.#waiting.some(({ leaseUntilMs }) => leaseUntilMs <= now.getTime())
  }

  add(ended: EndedAttempt): void {
    this.#waiting.push(ended)
    if (this.#waiting.length >= batchMax || ended.onRecorded) this.#flushNow?.()
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
  }

  /** Resolves when all attempts are recorded. */
  async flush(): Promise<void> {
    while (this.#writing) {
      this.#flushNow?.()
      await this.#writing
    }
  }

  async #writeAll(): Promise<void> {
    let size = batchMax
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < batchMax && !this.#waiting.some((each) => each.onRecorded)) {
        await new Promise<void>((resolve) => {
          this.#flushNow = resolve
          const waitMs = this.#lastMs + recordGapMs - performance.now()
          // Attempts whose responses were read together end before this.
          if (waitMs <= 0) setImmediate(resolve)
          else setTimeout(resolve, waitMs)
        })
      }
      this.#lastMs = performance.now()
      const batch = this.#waiting.slice(0, size)
      size = (await this.#write(batch)) ? batchMax : Math.max(1, batch.length >> 1)
    }
  }

  /** Writes a batch until it is recorded. False if PostgreSQL rejects it; then nothing of it was recorded. */
  async #write(batch: readonly EndedAttempt[]): Promise<boolean> {
    const id = this.#writer.next()
    for (;;) {
      try {
        for (const { webhookId, failures } of await recordBatch(this.#db, id, batch)) {
          const fields = { event: 'webhook.disabled', webhook_id: webhookId, failures } as const
          this.#log.warn(fields, 'disabled a webhook after repeated failures')
        }
        this.#waiting.splice(0, batch.length)
        for (const each of batch) each.onRecorded?.()
        this.#onProgress()
        return true
      } catch (error) {
        const fields = { event: 'delivery.recording_failed', err: error, attempts: batch.length } as const
        this.#log.warn(fields, 'recording delivery attempts failed; retrying')
        await sleep(200)
        if (!isInvalidData(error)) continue
        // PostgreSQL will never accept this attempt, so drop it: its lease expires and it is delivered again. Smaller
        // batches find it without losing the others.
        if (batch.length === 1) this.#waiting.shift()?.onRecorded?.()
        return false
      }
    }
  }
}

/** PostgreSQL rejects a value, or it cannot be encoded. */
const isInvalidData = (error: unknown): boolean => {
  const { code = '' } = error as { code?: string }
  return /^2[23]/.test(code) || code === 'ERR_OUT_OF_RANGE'
}

const keyOf = ({ webhookId, eventId }: EndedAttempt): string => webhookId + eventId

/** Records the attempts and disables endpoints that failed too often. Returns those that it disabled. */
async function recordBatch(db: Db, id: BatchId, batch: readonly EndedAttempt[]): Promise<EndpointHealth[]> {
  const last = new Map(batch.map((each, index) => [keyOf(each), index]))
  const attempts = batch.map((each, index) => {
    const lastIndex = last.get(keyOf(each)) ?? index
    return { ...each, lease: lastIndex === index ? each.lease : null, lastIndex }
  })
  const byEndpoint = Map.groupBy(batch, (each) => each.webhookId)
  const rows = { attempts, runs: [...byEndpoint].map(toRun), hours: byHour(batch) }
  const areSuccesses = last.size === batch.length && batch.every(({ state }) => state === 'delivered')
  // As others that lock several deliveries do: their endpoints are not locked.
  if (areSuccesses) rows.attempts = attempts.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const recorded = (areSuccesses && (await recordSuccesses(db, id, rows))) || (await recordAttempts(db, id, rows))
  const { endpoints, missing } = recorded
  const unstored = attempts.filter(
    ({ lastIndex, answer, responseHeaders }) =>
      missing.includes(lastIndex) && (answer.length > 0 || responseHeaders !== null),
  )
  if (unstored.length > 0) await storeResponses(db, unstored)
  for (const workspaceId of new Set(batch.map((each) => each.workspaceId))) db.notify(workspaceId, 'deliveries')
  const failing = endpoints.filter(({ enabled, failures }) => enabled && failures >= failuresMax)
  const disabled: EndpointHealth[] = []
  for (const endpoint of failing) {
    if (await disable(db, endpoint, byEndpoint.get(endpoint.webhookId) ?? [])) disabled.push(endpoint)
  }
  return disabled
}

/** Test events neither extend nor end a run of failures. */
const isCounted = ({ isTest }: EndedAttempt): boolean => !isTest

function toRun([webhookId, attempts]: [string, EndedAttempt[]]): FailureRunRow {
  const counted = attempts.filter(isCounted)
  const run = failureRunOf(counted.map((each) => each.fault === null))
  const lastSuccess = counted.findLastIndex((each) => each.fault === null)
  return {
    webhookId,
    ...run,
    since: counted[lastSuccess + 1]?.endedAt ?? null,
    succeededAt: attempts.findLast((each) => each.fault === null)?.endedAt ?? null,
    endedAt: (attempts.at(-1) as EndedAttempt).endedAt,
    hadTurn: attempts.some((each) => each.hasTurn),
    failedTurn: !run.succeeded && counted.some((each) => each.hasTurn),
  }
}

function byHour(batch: readonly EndedAttempt[]): HourRow[] {
  const hourOf = ({ at }: EndedAttempt) => Math.floor(at.getTime() / 3_600_000) * 3_600_000
  const groups = Map.groupBy(batch, (each) => `${each.webhookId} ${hourOf(each)}`)
  return [...groups.values()].map((attempts) => {
    const first = attempts[0] as EndedAttempt
    const succeeded = attempts.filter((each) => each.fault === null).length
    return {
      hour: new Date(hourOf(first)),
      workspaceId: first.workspaceId,
      webhookId: first.webhookId,
      succeeded,
      failed: attempts.length - succeeded,
      durations: countSteps(attempts.map((each) => each.durationUs / 1000)),
    }
  })
}

async function disable(db: Db, endpoint: EndpointHealth, attempts: readonly EndedAttempt[]): Promise<boolean> {
  const failure = attempts.findLast((each) => each.fault !== null && isCounted(each))
  // All attempts of this batch succeeded. The failures are from a process that died before it disabled the endpoint.
  if (!failure?.fault) return false
  const since = endpoint.failingSince ?? failure.endedAt
  const reason = disabledReason(failure.fault, failure.status, endpoint.failures, since)
  const { workspaceId, endedAt } = failure
  return db.transaction(async (tx) => {
    const disabled = await disableEndpoint(tx, workspaceId, endpoint.webhookId, reason, endedAt)
    // Another process may have disabled it in the meantime.
    if (!disabled?.wasEnabled) return false
    const webhookId = withPrefix('whk', endpoint.webhookId)
    await addNotification(tx, {
      workspaceId,
      kind: 'webhook_disabled',
      data: { webhook_id: webhookId, name: disabled.name, reason },
    })
    await recordAuditEntry(tx, { now: () => endedAt }, system, {
      action: 'webhook.disable',
      workspaceId,
      target: webhookId,
      targetName: disabled.name,
      before: { enabled: true, disabled_reason: null },
      after: { enabled: false, disabled_reason: reason },
    })
    return true
  })
}
