/**
 * What the service records for OpenTelemetry, if OTEL_EXPORTER_OTLP_ENDPOINT is set. A trace has the ID of its message, so
 * every process that works on the message knows it. Only the trace that a client sends with its request is stored, with the
 * message. See docs/decisions/tracing.md.
 */
import type { SpanExporter } from './otlp.ts'
import type { AttributeValue, Span } from './otlp-format.ts'
import { messageIn, newSpanId, readTraceparent, spanOf, traceOf } from './trace-ids.ts'
import type {
  FindTraceparent,
  TracedAttempt,
  TracedCall,
  TracedEvent,
  TracedRequest,
  TracedWebhook,
  TraceIds,
  Tracing,
} from './tracing.ts'

/** The time with fractions, in milliseconds. */
const nowMs = () => performance.timeOrigin + performance.now()

export class Traces implements Tracing {
  readonly #exporter: Pick<SpanExporter, 'add'>
  readonly #ratio: number
  readonly #findTraceparent: FindTraceparent
  /** The traces of messages that were sent lately. They never change. */
  readonly #known = new Map<string, TraceIds>()

  /** `ratio` is the part of traces that is recorded. */
  constructor(exporter: Pick<SpanExporter, 'add'>, ratio: number, findTraceparent: FindTraceparent) {
    this.#exporter = exporter
    this.#ratio = ratio
    this.#findTraceparent = findTraceparent
  }

  readonly nowMs = nowMs

  traceparentFor(requestId: string, header: string | undefined): string | null {
    const caller = readTraceparent(header)
    return caller && `00-${caller.traceId}-${spanOf(requestId)}-${caller.isSampled ? '01' : '00'}`
  }

  request({ id, startedMs, method, route, status, code, workspaceId, messageId, traceparent }: TracedRequest): void {
    const caller = readTraceparent(traceparent)
    const ids = caller
      ? { traceId: caller.traceId, spanId: spanOf(id), parentId: caller.spanId, isSampled: caller.isSampled }
      : { ...this.#own(messageId ?? id), parentId: null }
    if (caller && messageId !== null) this.#remember(messageId, ids)
    const isKnown = knownMethods.has(method)
    this.#add({
      ...ids,
      name: [isKnown ? method : 'HTTP', route].filter(Boolean).join(' '),
      kind: 'server',
      startMs: startedMs,
      endMs: nowMs(),
      isError: status >= 500,
      attributes: {
        'http.request.method': isKnown ? method : '_OTHER',
        'http.route': route,
        'http.response.status_code': status,
        'error.type': code,
        'parley.request_id': id,
        'parley.workspace_id': workspaceId,
        'parley.message_id': messageId,
      },
    })
  }

  message(messageId: string, workspaceId: string, startMs: number): void {
    this.#add({
      ...this.#own(messageId),
      parentId: null,
      name: 'send message from the console',
      kind: 'producer',
      startMs,
      endMs: nowMs(),
      attributes: { 'parley.message_id': messageId, 'parley.workspace_id': workspaceId },
    })
  }

  call({ messageId, workspaceId, senderId, attempt, startMs, outcome, errorCode }: TracedCall): void {
    const span = {
      name: 'send message to the network',
      kind: 'client',
      startMs,
      endMs: nowMs(),
      isError: outcome !== 'sent',
      attributes: {
        'parley.message_id': messageId,
        'parley.workspace_id': workspaceId,
        'parley.sender_id': senderId,
        'parley.attempt': attempt,
        'parley.outcome': outcome,
        'error.type': errorCode === null ? null : String(errorCode),
      },
    } as const
    this.#within(messageId, ({ spanId, ...trace }) =>
      this.#add({ ...trace, spanId: newSpanId(), parentId: spanId, ...span }),
    )
  }

  beginWebhook(): TracedWebhook {
    return { spanId: newSpanId(), startMs: nowMs(), updates: 0, received: new Set(), changed: new Set() }
  }

  endWebhook({ spanId, startMs, updates, received, changed }: TracedWebhook, outcome: string): void {
    const span = {
      name: 'POST /network/whatsapp/{app_id}',
      kind: 'server',
      startMs,
      endMs: nowMs(),
      isError: outcome === 'failed',
      attributes: { 'parley.outcome': outcome, 'parley.updates': updates },
    } as const
    // It begins the trace of each message that it brought, and is part of the trace of each message that it changed.
    for (const id of received) this.#add({ ...this.#own(id), parentId: null, ...span })
    for (const id of changed)
      this.#within(id, (message) => this.#add({ ...message, spanId, parentId: message.spanId, ...span }))
    const traceId = newSpanId() + newSpanId()
    const isSampled = this.#isSampled(traceId)
    if (received.size + changed.size === 0) this.#add({ traceId, spanId, parentId: null, isSampled, ...span })
  }

  event({ id, type, workspaceId, messageId, createdAt, webhook }: TracedEvent): void {
    const isReceived = received.has(type)
    if (webhook && messageId !== null) (isReceived ? webhook.received : webhook.changed).add(messageId)
    const span = {
      name: `publish ${type}`,
      kind: 'producer',
      startMs: createdAt.getTime(),
      endMs: Math.max(nowMs(), createdAt.getTime()),
      attributes: {
        'parley.event_id': id,
        'parley.event_type': type,
        'parley.workspace_id': workspaceId,
        'parley.message_id': messageId,
      },
    } as const
    const spanId = spanOf(id)
    if (messageId === null) this.#add({ ...this.#own(id), parentId: null, ...span })
    else if (isReceived) {
      // Without a webhook, for example if the update was parked, the event begins the trace itself.
      const root = this.#own(messageId)
      this.#add({ ...root, spanId, parentId: webhook ? root.spanId : null, ...span })
    } else {
      this.#within(messageId, (root) =>
        this.#add({ ...root, spanId, parentId: webhook?.spanId ?? root.spanId, ...span }),
      )
    }
  }

  async load(items: readonly AttemptedBody[]): Promise<void> {
    const ids = items.filter(({ type }) => isStatus(type)).map(({ body }) => messageIn(body))
    await Promise.all(ids.map((id) => id !== null && !this.#known.has(id) && this.#find(id)))
  }

  beginAttempt({ eventId, type, body }: AttemptedBody): TracedAttempt {
    const messageId = messageIn(body)
    const { traceId, isSampled } =
      (isStatus(type) && this.#known.get(messageId ?? '')) || this.#own(messageId ?? eventId)
    const spanId = newSpanId()
    return {
      traceId,
      spanId,
      isSampled,
      startMs: nowMs(),
      traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
    }
  }

  endAttempt({ traceId, spanId, isSampled, startMs }: TracedAttempt, item: AttemptedItem, result: AttemptResult): void {
    this.#add({
      traceId,
      spanId,
      isSampled,
      parentId: spanOf(item.eventId),
      name: 'deliver event',
      kind: 'client',
      startMs,
      endMs: nowMs(),
      isError: result.fault !== null,
      attributes: {
        'parley.event_id': item.eventId,
        'parley.event_type': item.type,
        'parley.workspace_id': item.workspaceId,
        'parley.webhook_id': item.webhookId,
        'parley.attempt': item.attempts + 1,
        'parley.trigger': item.trigger,
        'http.request.method': 'POST',
        'http.response.status_code': result.status,
        'error.type': result.fault,
      },
    })
  }

  /** The trace of a message, an event or a request that has no other. */
  #own(uuid: string): TraceIds {
    const traceId = traceOf(uuid)
    return { traceId, spanId: spanOf(uuid), isSampled: this.#isSampled(traceId) }
  }

  /** The same for every span of a trace, in every process. */
  #isSampled(traceId: string): boolean {
    return this.#ratio >= 1 || Number.parseInt(traceId.slice(-12), 16) / 2 ** 48 < this.#ratio
  }

  /** Calls back with the trace of a sent message, and the span that its others belong to. */
  #within(messageId: string, callback: (ids: TraceIds) => void): void {
    const known = this.#known.get(messageId)
    if (known) callback(known)
    else void this.#find(messageId).then(callback)
  }

  /** If the database is away, the trace is the message's own. */
  async #find(messageId: string): Promise<TraceIds> {
    const stored = await this.#findTraceparent(messageId).catch(() => null)
    const ids = readTraceparent(stored ?? undefined) ?? this.#own(messageId)
    this.#remember(messageId, ids)
    return ids
  }

  #remember(messageId: string, { traceId, spanId, isSampled }: TraceIds): void {
    this.#known.set(messageId, { traceId, spanId, isSampled })
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value ?? '')
  }

  #add({ attributes, isError = false, isSampled, ...span }: NewSpan): void {
    if (!isSampled) return
    const present = Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined)
    this.#exporter.add({ ...span, isError, attributes: present as [string, AttributeValue][] })
  }
}

/** Those that OpenTelemetry's conventions name. */
const knownMethods = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '))

/** About 5 MB. */
const maxKnown = 20_000

type AttemptedBody = Parameters<Tracing['beginAttempt']>[0]
type AttemptedItem = Parameters<Tracing['endAttempt']>[1]
type AttemptResult = Parameters<Tracing['endAttempt']>[2]

type NewSpan = Omit<Span, 'attributes' | 'isError'> & {
  isSampled: boolean
  attributes: Record<string, AttributeValue | null | undefined>
  isError?: boolean
}

const received = new Set(['message.received', 'flow.completed'])

/** An event about a message that was sent. */
const isStatus = (type: string): boolean => type.startsWith('message.') && !received.has(type)
