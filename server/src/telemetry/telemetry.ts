import { Counters } from './counters.ts'
import type { Tracing } from './tracing.ts'

/** The measurements of a process. Every `Db` has them, because most are counted after a commit. */
export interface Telemetry {
  /** Counters and durations for /metrics. */
  readonly metrics: Counters
  /** Records spans; null unless OTEL_EXPORTER_OTLP_ENDPOINT is set. */
  tracing: Tracing | null
}

export const newTelemetry = (): Telemetry => ({ metrics: new Counters(), tracing: null })

/** The names of all background loops, as in logs and metrics. */
export type LoopName =
  | 'clock and schema'
  | 'deliveries'
  | 'fetch files'
  | 'mail'
  | 'maintenance'
  | 'mark as read'
  | 'notifications'
  | 'replays'
  | 'send'
  | 'sync accounts'
