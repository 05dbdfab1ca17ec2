import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { until } from './until.ts'

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code?: number }
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

/** An OpenTelemetry collector that keeps the spans it receives. */
export interface Collector {
  url: string
  spans: ReceivedSpan[]
  /** The bodies of all requests, as text. */
  bodies: string[]
  headers: Record<string, unknown>[]
  /** Changes how it responds; with 200 by default. */
  respond: (response: ServerResponse) => void
  /** The spans of a trace, once there are as many, and the parent of each except the first. */
  trace(traceId: string, count: number): Promise<ReceivedSpan[]>
}

interface Body {
  resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[]
}

export function useCollector(): Collector {
  const collector: Collector = {
    url: '',
    spans: [],
    bodies: [],
    headers: [],
    respond: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    trace: (traceId, count) =>
      until(`the trace ${traceId} has ${count} spans`, () => {
        const found = collector.spans.filter((span) => span.traceId === traceId)
        const ids = new Set(found.map(({ spanId }) => spanId))
        const roots = found.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId))
        return found.length >= count && roots.length === 1 && found
      }),
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    collector.headers.push({ ...request.headers, path: request.url })
    collector.bodies.push(text)
    const { resourceSpans } = JSON.parse(text) as Body
    for (const { scopeSpans } of resourceSpans) for (const { spans } of scopeSpans) collector.spans.push(...spans)
    collector.respond(response)
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return collector
}
