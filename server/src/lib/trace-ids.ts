import { newUuid } from './ids.ts'
import type { TraceIds } from './tracing.ts'

/** The ID of the trace of a message, an event or a request: its UUID. */
export const traceOf = (uuid: string): string => uuid.replaceAll('-', '')

/** The ID of the span of a message, an event or a request in its trace: the last 64 bits of its UUID, which are random. */
export const spanOf = (uuid: string): string => traceOf(uuid).slice(16)

/** The last 64 bits of a UUID are random. */
export const newSpanId = (): string => spanOf(newUuid())

/** The beginning of an event as `publish` writes it; test events have no message. */
const messagePattern =
  /^\{"id":"[^"]*","type":"[^"]*","created_at":"[^"]*","data":\{(?:"id":"[^"]*",)?"message_id":"msg_([0-9a-f-]{36})"/

export const messageIn = (body: Buffer): string | null =>
  messagePattern.exec(body.toString('latin1', 0, 300))?.[1] ?? null

/**
 * The context of a request's `traceparent` (W3C Trace Context); null if there is none or it is invalid. Later versions than 00 may
 * have more fields.
 */
export function readTraceparent(text: string | undefined): TraceIds | null {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text ?? '') ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  if (version === '00' && more !== undefined) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
