/** The types between the code that is traced and `traces.ts`, which is loaded only if tracing is on. */
import type { SpanContext } from '@opentelemetry/api'

/** The stored traceparent of a sent message; null if it has none. */
export type FindTraceparent = (messageId: string) => Promise<string | null>

/** A request under /v1. Times are milliseconds since 1970, with fractions. */
export interface TracedRequest {
  id: string
  startedMs: number
  method: string
  route: string | null
  status: number
  code: string | null
  workspaceId: string | null
  messageId: string | null
  traceparent: string | undefined
}

/** A call to the network that sends a message. */
export interface TracedCall {
  messageId: string
  workspaceId: string
  senderId: string
  attempt: number
  startMs: number
  outcome: string
  errorCode: string | number | null
}

/** A webhook of the network that is being stored. Its events add the messages that they are about. */
export interface TracedWebhook {
  readonly spanId: string
  readonly startMs: number
  updates: number
  readonly received: Set<string>
  readonly changed: Set<string>
}

export interface TracedEvent {
  id: string
  type: string
  workspaceId: string
  messageId: string | null
  createdAt: Date
  /** The webhook of the network that caused it. */
  webhook: TracedWebhook | undefined
}

/** An attempt to deliver an event. */
export interface TracedAttempt {
  ids: SpanContext
  startMs: number
  traceparent: string
}

/** Records spans. It never throws and never waits. */
export interface Tracing {
  nowMs(): number
  /** What to store with the message of a request, if its client sent a trace. */
  traceparentFor(requestId: string, header: string | undefined): string | null
  request(request: TracedRequest): void
  /** A message that was accepted without a request under /v1. */
  message(messageId: string, workspaceId: string, startMs: number): void
  call(call: TracedCall): void
  beginWebhook(): TracedWebhook
  endWebhook(webhook: TracedWebhook, outcome: string): void
  event(event: TracedEvent): void
  /** Reads the traces of events that are about to be delivered. */
  load(items: readonly { eventId: string; type: string; body: Buffer }[]): Promise<void>
  beginAttempt(item: { eventId: string; type: string; body: Buffer }): TracedAttempt
  endAttempt(
    attempt: TracedAttempt,
    item: { eventId: string; type: string; workspaceId: string; webhookId: string; attempts: number; trigger: string },
    result: { status: number | null; fault: string | null },
  ): void
}

export interface TracingSettings {
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** More attributes of the service, for example the environment that it runs in. */
  resource: Readonly<Record<string, string>>
  /** The part of traces that is recorded, from 0 to 1. */
  ratio: number
}
