/**
 * What the service records for OpenTelemetry, if OTEL_EXPORTER_OTLP_ENDPOINT is set. A trace has the ID of its message, so
 * every process that works on the message knows it. Only the trace that a client sends with its request is stored, with the
 * message. See docs/project/decisions/tracing.md.
 */
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import {
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type TracerProviderOptions,
} from '@opentelemetry/sdk-trace'
import type {
  FindTraceparent,
  TracedAttempt,
  TracedCall,
  TracedEvent,
  TracedRequest,
  TracedWebhook,
  Tracing,
} from './tracing.ts'

/** The time with fractions, in milliseconds. */
const nowMs = () => performance.timeOrigin + performance.now()

export class Traces implements Tracing {
  readonly #tracer: Tracer
  readonly #sampler: TraceIdRatioBasedSampler
  readonly #findTraceparent: FindTraceparent
  /** The IDs of the span that starts next: those of its message, event or request. */
  #nextIds = { traceId: '', spanId: '' }
  /** The traces of messages that were sent lately. They never change. */
  readonly #known = new Map<string, SpanContext>()

  /** `ratio` is the part of traces that is recorded. It is decided by the ID, so all processes agree. */
  constructor(options: TracerProviderOptions, version: string, ratio: number, findTraceparent: FindTraceparent) {
    this.#sampler = new TraceIdRatioBasedSampler(ratio)
    this.#findTraceparent = findTraceparent
    const sampler = new ParentBasedSampler({ root: this.#sampler })
    const idGenerator = {
      generateTraceId: () => this.#nextIds.traceId,
      generateSpanId: () => this.#nextIds.spanId,
    }
    this.#tracer = new TracerProvider({ ...options, sampler, idGenerator }).getTracer('parley', version)
  }

  readonly nowMs = nowMs

  traceparentFor(requestId: string, header = ''): string | null {
    const client = parseTraceParent(header)
    return client && toTraceparent({ ...client, spanId: spanOf(requestId) })
  }

  request({ id, startedMs, method, route, status, code, workspaceId, messageId, traceparent }: TracedRequest): void {
    const client = parseTraceParent(traceparent ?? '')
    const ids = client ? { ...client, spanId: spanOf(id) } : this.#own(messageId ?? id)
    if (client && messageId !== null) this.#remember(messageId, ids)
    const isKnown = knownMethods.has(method)
    this.#record(ids, client?.spanId ?? null, {
      name: [isKnown ? method : 'HTTP', route].filter(Boolean).join(' '),
      kind: SpanKind.SERVER,
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
    this.#record(this.#own(messageId), null, {
      name: 'send message from the console',
      kind: SpanKind.PRODUCER,
      startMs,
      endMs: nowMs(),
      attributes: { 'parley.message_id': messageId, 'parley.workspace_id': workspaceId },
    })
  }

  call({ messageId, workspaceId, senderId, attempt, startMs, outcome, errorCode }: TracedCall): void {
    const span = {
      name: 'send message to WhatsApp',
      kind: SpanKind.CLIENT,
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
    }
    this.#within(messageId, (root) => this.#record({ ...root, spanId: random.generateSpanId() }, root.spanId, span))
  }

  beginWebhook(): TracedWebhook {
    const spanId = random.generateSpanId()
    return { spanId, startMs: nowMs(), updates: 0, received: new Set(), changed: new Set() }
  }

  endWebhook({ spanId, startMs, updates, received, changed }: TracedWebhook, outcome: string): void {
    const span = {
      name: 'POST /network/whatsapp/{app_id}',
      kind: SpanKind.SERVER,
      startMs,
      endMs: nowMs(),
      isError: outcome === 'failed',
      attributes: { 'parley.outcome': outcome, 'parley.updates': updates },
    }
    // It begins the trace of each message that it brought, and is part of the trace of each message that it changed.
    for (const id of received) this.#record(this.#own(id), null, span)
    for (const id of changed) this.#within(id, (root) => this.#record({ ...root, spanId }, root.spanId, span))
    if (received.size + changed.size === 0)
      this.#record({ ...this.#begin(random.generateTraceId()), spanId }, null, span)
  }

  event({ id, type, workspaceId, messageId, createdAt, webhook }: TracedEvent): void {
    const isReceived = received.has(type)
    if (webhook && messageId !== null) (isReceived ? webhook.received : webhook.changed).add(messageId)
    const span = {
      name: `publish ${type}`,
      kind: SpanKind.PRODUCER,
      startMs: createdAt.getTime(),
      endMs: Math.max(nowMs(), createdAt.getTime()),
      attributes: {
        'parley.event_id': id,
        'parley.event_type': type,
        'parley.workspace_id': workspaceId,
        'parley.message_id': messageId,
      },
    }
    const spanId = spanOf(id)
    if (messageId === null) this.#record(this.#own(id), null, span)
    else if (isReceived) {
      // Without a webhook, for example if the update was parked, the event begins the trace itself.
      const root = this.#own(messageId)
      this.#record({ ...root, spanId }, webhook ? root.spanId : null, span)
    } else {
      this.#within(messageId, (root) => this.#record({ ...root, spanId }, webhook?.spanId ?? root.spanId, span))
    }
  }

  async load(items: readonly AttemptedBody[]): Promise<void> {
    const ids = items.filter(({ type }) => isStatus(type)).map(({ body }) => messageIn(body))
    await Promise.all(ids.map((id) => id !== null && !this.#known.has(id) && this.#find(id)))
  }

  beginAttempt({ eventId, type, body }: AttemptedBody): TracedAttempt {
    const messageId = messageIn(body)
    const trace = (isStatus(type) && this.#known.get(messageId ?? '')) || this.#own(messageId ?? eventId)
    const ids = { ...trace, spanId: random.generateSpanId() }
    return { ids, startMs: nowMs(), traceparent: toTraceparent(ids) }
  }

  endAttempt({ ids, startMs }: TracedAttempt, item: AttemptedItem, result: AttemptResult): void {
    this.#record(ids, spanOf(item.eventId), {
      name: 'deliver event',
      kind: SpanKind.CLIENT,
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
  #own(uuid: string): SpanContext {
    return { ...this.#begin(traceOf(uuid)), spanId: spanOf(uuid) }
  }

  #begin(traceId: string): Omit<SpanContext, 'spanId'> {
    const { decision } = this.#sampler.shouldSample(ROOT_CONTEXT, traceId)
    const isSampled = decision === SamplingDecision.RECORD_AND_SAMPLED
    return { traceId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE }
  }

  /** Calls back with the trace of a sent message, and the span that its others belong to. */
  #within(messageId: string, callback: (root: SpanContext) => void): void {
    const known = this.#known.get(messageId)
    if (known) callback(known)
    else void this.#find(messageId).then(callback)
  }

  /** If the database is away, the trace is the message's own. */
  async #find(messageId: string): Promise<SpanContext> {
    const stored = await this.#findTraceparent(messageId).catch(() => null)
    const ids = parseTraceParent(stored ?? '') ?? this.#own(messageId)
    this.#remember(messageId, ids)
    return ids
  }

  #remember(messageId: string, ids: SpanContext): void {
    this.#known.set(messageId, ids)
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value ?? '')
  }

  /** Records a span that has ended: only then its IDs are known. */
  #record(
    ids: SpanContext,
    parentId: string | null,
    { name, kind, startMs, endMs, isError, attributes }: NewSpan,
  ): void {
    this.#nextIds = ids
    const parent = parentId === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...ids, spanId: parentId })
    const present = Object.entries(attributes).filter(([, value]) => value !== null)
    const options = { kind, startTime: startMs, attributes: Object.fromEntries(present) as Attributes }
    const span: Span = this.#tracer.startSpan(name, options, parent)
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(endMs)
  }
}

interface NewSpan {
  name: string
  kind: SpanKind
  startMs: number
  endMs: number
  isError?: boolean
  attributes: Record<string, string | number | null>
}

type AttemptedBody = Parameters<Tracing['beginAttempt']>[0]
type AttemptedItem = Parameters<Tracing['endAttempt']>[1]
type AttemptResult = Parameters<Tracing['endAttempt']>[2]

const random = new RandomIdGenerator()

/** The ID of the trace of a message, an event or a request: its UUID. */
const traceOf = (uuid: string): string => uuid.replaceAll('-', '')

/** The ID of the span of a message, an event or a request in its trace: the last 64 bits of its UUID, which are random. */
const spanOf = (uuid: string): string => traceOf(uuid).slice(16)

const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`

/** The methods that OpenTelemetry's conventions name. */
const knownMethods = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '))

/** About 5 MB. */
const maxKnown = 20_000

const received = new Set(['message.received', 'flow.completed'])

/** An event about a message that was sent. */
const isStatus = (type: string): boolean => type.startsWith('message.') && !received.has(type)

/** The beginning of an event as `publish` writes it; test events have no message. */
const messagePattern =
  /^\{"id":"[^"]*","type":"[^"]*","created_at":"[^"]*","data":\{(?:"id":"[^"]*",)?"message_id":"msg_([0-9a-f-]{36})"/

const messageIn = (body: Buffer): string | null => messagePattern.exec(body.toString('latin1', 0, 300))?.[1] ?? null
