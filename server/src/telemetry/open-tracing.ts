/** OpenTelemetry's SDK, loaded only if tracing is on. */
import { setTimeout as sleep } from 'node:timers/promises'
import { diag } from '@opentelemetry/api'
import { ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace'
import { newUuid } from '../lib/ids.ts'
import type { Counters } from './counters.ts'
import type { Logger } from './logger.ts'
import { Traces } from './traces.ts'
import type { FindTraceparent, Tracing, TracingSettings } from './tracing.ts'

interface TracingDeps {
  version: string
  metrics: Counters
  log: Logger
  findTraceparent: FindTraceparent
}

/** About 4 MB. */
const maxQueueSize = 4096
const logEveryMs = 60_000

export function openTracing(
  { url, headers, serviceName, resource, ratio }: TracingSettings,
  { version, metrics, log, findTraceparent }: TracingDeps,
): { tracing: Tracing; stop(ms: number): Promise<void> } {
  let loggedMs = Number.NEGATIVE_INFINITY
  const warn = (reason: string) => {
    if (performance.now() - loggedMs < logEveryMs) return
    loggedMs = performance.now()
    log.warn({ event: 'tracing.export_failed', reason }, 'the collector did not accept spans')
  }
  // The exporter warns here if the collector accepted only some of the spans.
  const ignore = () => {}
  diag.setLogger(
    { verbose: ignore, debug: ignore, info: ignore, error: ignore, warn: (...parts) => warn(parts.join(' ')) },
    { suppressOverrideMessage: true },
  )
  const exporter = new OTLPTraceExporter({ url, headers })
  const countingExporter: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const isSent = result.code === ExportResultCode.SUCCESS
        processor.waiting -= spans.length
        metrics.add('trace spans', isSent ? 'sent' : 'failed', spans.length)
        if (!isSent) warn(reasonOf(result.error))
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
  const processor = new BoundedProcessor(countingExporter, () => metrics.add('trace spans', 'dropped'))
  const attributes = {
    'service.name': serviceName,
    'service.version': version,
    // Tells processes apart that have the same name.
    'service.instance.id': newUuid(),
    ...resource,
  }
  const options = { spanProcessors: [processor], resource: resourceFromAttributes(attributes) }
  return {
    tracing: new Traces(options, version, ratio, findTraceparent),
    async stop(ms) {
      await Promise.race([processor.shutdown().catch(ignore), sleep(ms, undefined, { ref: false })])
    },
  }
}

/** Counts the spans that it drops. Unlike the limit of its base class, its own includes the spans that are being sent. */
class BoundedProcessor extends BatchSpanProcessor {
  waiting = 0
  readonly #onDropped: () => void

  constructor(exporter: SpanExporter, onDropped: () => void) {
    super({ exporter, maxQueueSize, scheduledDelayMillis: 1_000 })
    this.#onDropped = onDropped
  }

  override onEnd(span: Parameters<BatchSpanProcessor['onEnd']>[0]): void {
    if (this.waiting >= maxQueueSize) this.#onDropped()
    else {
      this.waiting++
      super.onEnd(span)
    }
  }
}

const reasonOf = (error: (Error & { code?: unknown }) | undefined): string =>
  [error?.code, error?.message].filter(Boolean).join(' ')
