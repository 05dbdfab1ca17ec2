/**
 * Sends spans to an OpenTelemetry collector, as OTLP over HTTP in JSON. A bounded queue and one request at a time: if the
 * collector is slow or away, spans are sent again a few times and then dropped, and nothing else happens.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Counters } from './counters.ts'
import type { Logger } from './logger.ts'
import { maxBatch, type Outcome, outcomeOf, type Span, toRequest } from './otlp-format.ts'
import type { TracingSettings } from './tracing.ts'

export interface ExporterOptions {
  settings: TracingSettings
  version: string
  metrics: Counters
  log: Logger
  timeoutMs?: number
  batchMs?: number
  /** How long to wait after a failed request; longer after each that follows. */
  pauseMs?: number
}

/** About 4 MB. */
const maxQueued = 4096
/** How often a batch is sent again. */
const maxRetries = 4
const maxPauseMs = 60_000
const logEveryMs = 60_000
const maxResponseChars = 16_384

export class SpanExporter {
  readonly #options: Required<ExporterOptions>
  readonly #url: URL
  readonly #agent: HttpAgent
  #queue: Span[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | null = null
  #loggedMs = Number.NEGATIVE_INFINITY
  /** Whether each batch is sent once only. */
  #isFlushing = false
  #isStopping = false
  /** The batch that failed last. It counts as queued. */
  #again: Span[] = []
  #failures = 0
  #pausedUntilMs = 0

  constructor(options: ExporterOptions) {
    this.#options = { timeoutMs: 10_000, batchMs: 1_000, pauseMs: 5_000, ...options }
    this.#url = new URL(options.settings.url)
    this.#agent = new (this.#url.protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 })
  }

  add(span: Span): void {
    if (this.#isStopping || this.#waiting >= maxQueued) {
      this.#options.metrics.add('trace spans', 'dropped')
      return
    }
    this.#queue.push(span)
    if (this.#queue.length >= maxBatch && !this.#sending) this.#schedule(0)
    else this.#schedule(this.#options.batchMs)
  }

  get #waiting(): number {
    return this.#queue.length + this.#again.length
  }

  /** Sends what is queued, each batch once, for at most `ms`. */
  async stop(ms: number): Promise<void> {
    const end = performance.now() + ms
    const limit = new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
    this.#isFlushing = true
    while ((this.#sending || this.#waiting > 0) && performance.now() < end) {
      clearTimeout(this.#timer)
      this.#sending ??= this.#send()
      await Promise.race([this.#sending, limit])
    }
    this.#isStopping = true
    clearTimeout(this.#timer)
    this.#options.metrics.add('trace spans', 'dropped', this.#queue.splice(0).length + this.#again.splice(0).length)
    this.#agent.destroy()
  }

  #schedule(ms: number): void {
    const pauseMs = this.#pausedUntilMs - performance.now()
    if (this.#sending || (this.#timer && (ms > 0 || pauseMs > 0))) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#sending ??= this.#send()
      },
      Math.max(ms, pauseMs),
    ).unref()
  }

  async #send(): Promise<void> {
    const { metrics, batchMs, settings, version } = this.#options
    const batch = this.#again.length > 0 ? this.#again.splice(0) : this.#queue.splice(0, maxBatch)
    if (batch.length > 0) {
      const outcome = await this.#post(JSON.stringify(toRequest(batch, settings, version)))
      const { fault } = outcome
      const rejected = Math.min(outcome.rejected ?? 0, batch.length)
      if (fault === null) {
        this.#failures = 0
        metrics.add('trace spans', 'sent', batch.length - rejected)
        metrics.add('trace spans', 'failed', rejected)
      } else this.#onFailure(batch, outcome)
      if (fault !== null || rejected > 0) this.#warn(fault ?? `${rejected} spans rejected`)
    }
    this.#sending = null
    if (this.#waiting > 0 && !this.#isStopping) this.#schedule(this.#waiting >= maxBatch ? 0 : batchMs)
  }

  /** Keeps a batch that the collector may accept later, and waits: longer each time, or as long as the collector asks. */
  #onFailure(batch: Span[], { isTemporary = false, waitMs }: Outcome): void {
    const pauseMs = waitMs ?? this.#options.pauseMs * 2 ** this.#failures
    this.#pausedUntilMs = performance.now() + Math.min(pauseMs, maxPauseMs)
    if (isTemporary && this.#failures < maxRetries && !this.#isFlushing) {
      this.#again = batch
      this.#failures++
    } else this.#options.metrics.add('trace spans', 'failed', batch.length)
  }

  #post(body: string): Promise<Outcome> {
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
      const onError = (error: Error) => resolve({ fault: error.message, isTemporary: true })
      request.on('error', onError)
      request.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          if (text.length < maxResponseChars) text += chunk
        })
        response.on('error', onError)
        response.on('end', () => resolve(outcomeOf(response, text)))
      })
      request.end(body)
    })
  }

  #warn(reason: string): void {
    const now = performance.now()
    if (now - this.#loggedMs < logEveryMs) return
    this.#loggedMs = now
    this.#options.log.warn({ event: 'tracing.export_failed', reason }, 'the collector did not accept spans')
  }
}
