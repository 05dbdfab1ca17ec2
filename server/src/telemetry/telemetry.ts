import { Counters } from './counters.ts'
import type { Tracing } from './tracing.ts'

/** What is measured in a process. Every `Db` has it, because most of what is measured is counted after a commit. */
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
