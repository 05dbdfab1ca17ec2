import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../db/db.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { OutboundErrorKind } from '../../../lib/outbound-error.ts'
import { countSteps } from './durations.ts'
import { disableEndpoint } from './hold.ts'
import {
  type AttemptRow,
  type EndpointStanding,
  type HourRow,
  type RunRow,
  recordAttempts,
} from './record-attempts.sql.ts'
import { failuresMax, reasonFor, runOf } from './retry-policy.ts'

export type EndedAttempt = AttemptRow & {
  fault: OutboundErrorKind | null
  endedAt: Date
  /** Called when it is written, and its endpoint disabled if it comes to that. */
  onRecorded?: () => void
}

const gatherMs = 20
const batchMax = 400

/**
 * Writes down what came of attempts, many at a time and in their order. What cannot be written is tried again until it
 * can: nothing is forgotten while the database is away.
 */
export class AttemptWriter {
  readonly #db: Db
  readonly #log: Logger
  #waiting: EndedAttempt[] = []
  #working: Promise<void> | undefined
  #hurry: (() => void) | undefined
  readonly #onProgress: () => void

  constructor(db: Db, log: Logger, onProgress: () => void) {
    this.#db = db
    this.#log = log
    this.#onProgress = onProgress
  }

  /** How much is not written yet. */
  get backlog(): number {
    return this.#waiting.length
  }

  add(ended: EndedAttempt): void {
    this.#waiting.push(ended)
    if (this.#waiting.length >= batchMax || ended.onRecorded) this.#hurry?.()
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  /** Resolves when all is written. */
  async flush(): Promise<void> {
    while (this.#working) {
      this.#hurry?.()
      await this.#working
    }
  }

  async #work(): Promise<void> {
    let size = batchMax
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < batchMax && !this.#waiting.some((each) => each.onRecorded)) {
        await new Promise<void>((resolve) => {
          this.#hurry = resolve
          setTimeout(resolve, gatherMs)
        })
      }
      const batch = this.#waiting.slice(0, size)
      try {
        for (const { webhookId, longest } of await recordBatch(this.#db, batch)) {
          const fields = { event: 'endpoint.disabled', webhook_id: webhookId, failures: longest } as const
          this.#log.warn(fields, 'disabled an endpoint that keeps failing')
        }
        this.#waiting.splice(0, batch.length)
        size = batchMax
        for (const each of batch) each.onRecorded?.()
        this.#onProgress()
      } catch (error) {
        const fields = { event: 'delivery.recording_failed', err: error, attempts: batch.length } as const
        this.#log.warn(fields, 'recording delivery attempts failed; retrying')
        // One that PostgreSQL will never take costs no other; its lease runs out and it is delivered again.
        if (batch.length === 1 && isUnfit(error)) this.#waiting.shift()
        size = Math.max(1, batch.length >> 1)
        await sleep(200)
      }
    }
  }
}

/** PostgreSQL refuses the values, or they cannot even be written down. */
const isUnfit = (error: unknown): boolean => {
  const { code = '' } = error as { code?: string }
  return /^2[23]/.test(code) || code === 'ERR_OUT_OF_RANGE'
}

const keyOf = ({ webhookId, eventId }: EndedAttempt): string => webhookId + eventId

/** Writes the attempts, and disables the endpoints that failed too often. Returns those. */
async function recordBatch(db: Db, batch: readonly EndedAttempt[]): Promise<EndpointStanding[]> {
  const last = new Map(batch.map((each) => [keyOf(each), each]))
  const attempts = batch.map((each) => (last.get(keyOf(each)) === each ? each : { ...each, lease: null }))
  const byEndpoint = Map.groupBy(batch, (each) => each.webhookId)
  const standings = await recordAttempts(db, attempts, [...byEndpoint].map(toRun), byHour(batch))
  for (const workspaceId of new Set(batch.map((each) => each.workspaceId))) db.notify(workspaceId, 'deliveries')
  const failing = standings.filter(({ enabled, longest }) => enabled && longest >= failuresMax)
  const disabled: EndpointStanding[] = []
  for (const standing of failing) {
    if (await disable(db, standing, byEndpoint.get(standing.webhookId) ?? [])) disabled.push(standing)
  }
  return disabled
}

function toRun([webhookId, own]: [string, EndedAttempt[]]): RunRow {
  const lastSuccess = own.findLastIndex((each) => each.fault === null)
  return {
    webhookId,
    ...runOf(own.map((each) => each.fault === null)),
    since: own[lastSuccess + 1]?.endedAt ?? null,
    succeededAt: own[lastSuccess]?.endedAt ?? null,
  }
}

/** The attempts of a batch by endpoint and hour. */
function byHour(batch: readonly EndedAttempt[]): HourRow[] {
  const hourOf = ({ at }: EndedAttempt) => Math.floor(at.getTime() / 3_600_000) * 3_600_000
  const groups = Map.groupBy(batch, (each) => `${each.webhookId} ${hourOf(each)}`)
  return [...groups.values()].map((own) => {
    const first = own[0] as EndedAttempt
    const succeeded = own.filter((each) => each.fault === null).length
    return {
      hour: new Date(hourOf(first)),
      workspaceId: first.workspaceId,
      webhookId: first.webhookId,
      succeeded,
      failed: own.length - succeeded,
      durations: countSteps(own.map((each) => each.durationUs / 1000)),
    }
  })
}

async function disable(db: Db, standing: EndpointStanding, own: readonly EndedAttempt[]): Promise<boolean> {
  const failure = own.findLast((each) => each.fault !== null)
  // A process died between recording the twentieth failure and disabling, and the endpoint has succeeded since.
  if (!failure?.fault) return false
  const since = standing.failingSince ?? failure.endedAt
  const reason = reasonFor(failure.fault, failure.status, Math.max(standing.failures, failuresMax), since)
  await disableEndpoint(db, failure.workspaceId, standing.webhookId, reason)
  return true
}
