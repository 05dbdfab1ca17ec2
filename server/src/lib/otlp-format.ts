/** OTLP in JSON: the request with spans, and what its response means. */
import type { IncomingMessage } from 'node:http'
import { newUuid } from './ids.ts'
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

const kinds = { internal: 1, server: 2, client: 3, producer: 4 } as const

/** What a request has led to. */
export interface Outcome {
  fault: string | null
  /** Whether the collector may accept the same spans later. */
  isTemporary?: boolean
  /** How long the collector asks to wait. */
  waitMs?: number
  /** How many spans of an accepted request the collector has dropped. */
  rejected?: number
}

/** How many spans a request has at most. */
export const maxBatch = 512

/** As OTLP defines it: these statuses are worth another try, and an accepted request says how many spans were not accepted. */
export function outcomeOf({ statusCode = 0, headers }: IncomingMessage, text: string): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { fault: null, rejected: rejectedIn(text) }
  const isTemporary = [429, 502, 503, 504].includes(statusCode)
  const waitMs = isTemporary ? waitMsOf(headers['retry-after']) : undefined
  return { fault: `status ${statusCode}`, isTemporary, ...(waitMs !== undefined && { waitMs }) }
}

function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: string | number } }
    return Math.max(0, Number(partialSuccess?.rejectedSpans) || 0)
  } catch {
    return 0
  }
}

/** Seconds, or a date. */
function waitMsOf(retryAfter = ''): number | undefined {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** Tells processes apart that have the same name. */
const instanceId = newUuid()

export function toRequest(
  spans: readonly Span[],
  { serviceName, resource: more }: TracingSettings,
  version: string,
): object {
  const own = { 'service.name': serviceName, 'service.version': version, 'service.instance.id': instanceId }
  const resource = { attributes: toAttributes(Object.entries({ ...own, ...more })) }
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
