/**
 * Sends spans to an OpenTelemetry collector, as OTLP over HTTP in JSON. A bounded queue and one request at a time: if the
 * collector is slow or away, spans are dropped, and nothing else happens.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Counters } from './counters.ts'
import type { Logger } from './logger.ts'
import type { TracingSettings } from './tracing.ts'

export type AttributeValue = string | number

export interface Span {
  traceId: string
  spanId: string
  /** Null: the span begins its trace. */
  parentId: string | null
  name: string
  kind: keyof typeof kinds
  startMs: number
  endMs: number
  isError: boolean
  attributes: readonly (readonly [string, AttributeValue])[]
}

export interface ExporterOptions {
  settings: TracingSettings
  version: string
  metrics: Counters
  log: Logger
  timeoutMs?: number
  batchMs?: number
  /** How long to wait after a failed request. */
  pauseMs?: number
}

const kinds = { internal: 1, server: 2, client: 3, producer: 4 } as const

/** About 4 MB. */
const maxQueued = 4096
const maxBatch = 512
const logEveryMs = 60_000

export class SpanExporter {
  readonly #options: Required<ExporterOptions>
  readonly #url: URL
  readonly #agent: HttpAgent
  #queue: Span[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | null = null
  #loggedMs = Number.NEGATIVE_INFINITY
  #isStopping = false

  constructor(options: ExporterOptions) {
    this.#options = { timeoutMs: 10_000, batchMs: 1_000, pauseMs: 5_000, ...options }
    this.#url = new URL(`${options.settings.endpoint.replace(/\/+$/, '')}/v1/traces`)
    this.#agent = new (this.#url.protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 })
  }

  add(span: Span): void {
    if (this.#isStopping || this.#queue.length >= maxQueued) {
      this.#options.metrics.add('trace spans', 'dropped')
      return
    }
    this.#queue.push(span)
    if (this.#queue.length >= maxBatch && !this.#sending) this.#schedule(0)
    else this.#schedule(this.#options.batchMs)
  }

  /** Sends what is queued, for at most `ms`. */
  async stop(ms: number): Promise<void> {
    const end = performance.now() + ms
    const limit = new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
    while ((this.#sending || this.#queue.length > 0) && performance.now() < end) {
      clearTimeout(this.#timer)
      this.#sending ??= this.#send()
      await Promise.race([this.#sending, limit])
    }
    this.#isStopping = true
    clearTimeout(this.#timer)
    this.#options.metrics.add('trace spans', 'dropped', this.#queue.splice(0).length)
    this.#agent.destroy()
  }

  #schedule(ms: number): void {
    if (this.#sending || (this.#timer && ms > 0)) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#sending ??= this.#send()
    }, ms).unref()
  }

  async #send(): Promise<void> {
    const { metrics, pauseMs, batchMs } = this.#options
    const batch = this.#queue.splice(0, maxBatch)
    const fault = batch.length === 0 ? null : await this.#post(JSON.stringify(toRequest(batch, this.#options)))
    metrics.add('trace spans', fault === null ? 'sent' : 'failed', batch.length)
    if (fault !== null) this.#warn(fault)
    this.#sending = null
    if (this.#queue.length > 0 && !this.#isStopping)
      this.#schedule(fault !== null ? pauseMs : this.#queue.length >= maxBatch ? 0 : batchMs)
  }

  /** Why it failed; null if it did not. */
  #post(body: string): Promise<string | null> {
    const { settings, timeoutMs } = this.#options
    const send = this.#url.protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve) => {
      const request = send(this.#url, {
        method: 'POST',
        agent: this.#agent,
        headers: {
          ...settings.headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
        signal: AbortSignal.timeout(timeoutMs),
      })
      request.on('error', (error) => resolve(error.message))
      request.on('response', (response) => {
        const status = response.statusCode ?? 0
        response.resume()
        response.on('error', (error) => resolve(error.message))
        response.on('end', () => resolve(status >= 200 && status < 300 ? null : `status ${status}`))
      })
      request.end(body)
    })
  }

  #warn(reason: string): void {
    const now = performance.now()
    if (now - this.#loggedMs < logEveryMs) return
    this.#loggedMs = now
    this.#options.log.warn(
      { event: 'tracing.export_failed', reason },
      'the collector did not accept spans; they are dropped',
    )
  }
}

function toRequest(spans: readonly Span[], { settings: { serviceName }, version }: ExporterOptions): object {
  const resource = {
    attributes: toAttributes([
      ['service.name', serviceName],
      ['service.version', version],
    ]),
  }
  const scope = { name: 'parley', version }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(toSpan) }] }] }
}

const toSpan = ({ traceId, spanId, parentId, name, kind, startMs, endMs, isError, attributes }: Span) => ({
  traceId,
  spanId,
  ...(parentId !== null && { parentSpanId: parentId }),
  name,
  kind: kinds[kind],
  startTimeUnixNano: toNanos(startMs),
  endTimeUnixNano: toNanos(Math.max(startMs, endMs)),
  attributes: toAttributes(attributes),
  status: isError ? { code: 2 } : {},
})

/** Numbers are not exact enough for nanoseconds, so they are rounded to microseconds. */
const toNanos = (ms: number): string => `${Math.round(ms * 1000)}000`

const toAttributes = (attributes: Span['attributes']) =>
  attributes.map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
