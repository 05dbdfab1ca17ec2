import type { Counters } from './counters.ts'
import type { Logger } from './logger.ts'
import { SpanExporter } from './otlp.ts'
import { Traces } from './traces.ts'
import type { FindTraceparent, Tracing, TracingSettings } from './tracing.ts'

/** Loaded only if tracing is on. */
export function openTracing(
  settings: TracingSettings,
  { findTraceparent, ...deps }: { version: string; metrics: Counters; log: Logger; findTraceparent: FindTraceparent },
): { tracing: Tracing; stop(ms: number): Promise<void> } {
  const exporter = new SpanExporter({ settings, ...deps })
  return { tracing: new Traces(exporter, settings.ratio, findTraceparent), stop: (ms) => exporter.stop(ms) }
}
