import { receivedEventSchemas } from '@parley/contract/events'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { openConsole } from './console.ts'
import { eventRoutes } from './domain/deliveries/events.routes.ts'
import { uploadRoutes } from './domain/files/uploads.routes.ts'
import { flowRoutes } from './domain/flows/flows.routes.ts'
import { newMetrics } from './domain/health/metrics.ts'
import { keyRoutes } from './domain/keys/keys.routes.ts'
import { newAccessCheck } from './domain/keys/rate-limit.ts'
import { recordedKeys } from './domain/keys/uses.ts'
import { inboundRoutes } from './domain/messages/inbound.routes.ts'
import { messageRoutes } from './domain/messages/messages.routes.ts'
import { newIngress } from './domain/messages/receiving/ingress.ts'
import { newInspect } from './domain/requests/inspector/inspect.ts'
import { RequestMeter } from './domain/requests/meter.ts'
import { RequestRecorder } from './domain/requests/recorder.ts'
import { rejectedWebhook } from './domain/requests/rejected-webhooks.ts'
import { senderRoutes } from './domain/senders/senders.routes.ts'
import { templateRoutes } from './domain/templates/templates.routes.ts'
import { webhookRoutes } from './domain/webhooks/webhooks.routes.ts'
import { Bodies } from './http/bodies.ts'
import { clientAddressReader } from './http/client-address.ts'
import { apiPages } from './http/docs/catalogue.ts'
import { isForIngress, mountIngress } from './http/ingress.ts'
import { Connections } from './http/limits/connections.ts'
import { HeldRequests } from './http/limits/held-requests.ts'
import { type Limits, newLimits } from './http/limits/limits.ts'
import { NetworkSenders } from './http/limits/network-senders.ts'
import { WorkspaceSlots } from './http/limits/slots.ts'
import { newMcpRoute } from './http/mcp/mcp.ts'
import { mountMetrics } from './http/metrics.ts'
import { openApiOf } from './http/openapi.ts'
import { mountPages } from './http/pages.ts'
import { mountApi } from './http/pipeline.ts'
import { type Route, route } from './http/route.ts'
import { type HttpServerDeps, newHttpServer } from './http/server.ts'
import { version } from './lib/version.ts'
import type { Runtime } from './runtime.ts'
import { Overload } from './sharing/overload.ts'

/** Every route under /v1. */
export const routes: readonly Route[] = [
  ...keyRoutes,
  ...senderRoutes,
  ...templateRoutes,
  ...messageRoutes,
  ...inboundRoutes,
  ...uploadRoutes,
  ...flowRoutes,
  ...webhookRoutes,
  ...eventRoutes,
]

export interface Api {
  app: FastifyInstance
  /** Writes buffered records to the database. Afterwards the request log is complete. */
  flush(): Promise<void>
}

export interface ApiOptions {
  /** Null if the database responds, this process can work with it and the service is not stopping. */
  whyNotReady(): Promise<string | null>
  /** Always true if left out. */
  hasUsableSchema?(): boolean
  /** Additional routes, for tests of the pipeline. */
  moreRoutes?: readonly Route[]
  /** Other limits than the usual ones, for tests. */
  limits?: Partial<Limits>
}

export async function buildApi(runtime: Runtime, options: ApiOptions): Promise<Api> {
  const { whyNotReady, hasUsableSchema = () => true, moreRoutes = [] } = options
  const { db, clock, log, config, network } = runtime
  const limits = { ...newLimits(config), ...options.limits }
  const { timeouts } = limits
  const recorder = new RequestRecorder(db, log, recordedKeys)
  const described = [...routes, ...moreRoutes]
  const mcp = newMcpRoute(described, { version, publicUrl: config.publicUrl, log })
  const description = describe(config.publicUrl, described)
  const all = [...described, description.route, mcp]
  const requests = new RequestMeter(all.map(({ path }) => path))
  const counters = db.telemetry.metrics
  const addressOf = clientAddressReader(config.trustProxy)
  const overload = new Overload(counters, log)
  const bodies = new Bodies({ limits, overload, addressOf })
  const senders = new NetworkSenders(limits.wrongSignatures, clock)
  const connections = new Connections({
    limits,
    trustProxy: config.trustProxy,
    overload,
    addressOf,
    // Other clients must not keep the network out.
    isExempt: (request, block) => isForIngress(request) && senders.isKnown(block),
  })
  const requestSlots = new WorkspaceSlots('workspace_requests', limits.requests, overload)
  const heldSlots = new WorkspaceSlots('held_requests', limits.heldRequests, overload)
  const heldRequests = new HeldRequests({ connections, requests: requestSlots, held: heldSlots })
  const deps: HttpServerDeps = {
    db,
    changes: new Set(),
    hasUsableSchema,
    clock,
    log,
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    timeouts,
    bodies,
    connections,
    secretKeys: network.secretKeys,
    settings: { publicUrl: config.publicUrl, mediaBytesPerWorkspace: config.mediaBytesPerWorkspace },
    requestSlots,
    heldRequests,
    admit: newAccessCheck(db, clock),
    inspect: newInspect(),
    record(record) {
      recorder.record(record)
      requests.record(record)
    },
  }
  const ingress = newIngress({ db, clock, log, overload, publicUrl: config.publicUrl, ...network.vault })
  const app = newHttpServer(deps)
  mountApi(app, all, deps)
  mountIngress(app, {
    ...ingress,
    onWrongSignature: (...webhook) => recorder.record(rejectedWebhook(clock.now(), ...webhook)),
    hasUsableSchema,
    timeouts,
    bodies,
    senders,
    overload,
    addressOf,
  })
  // They would keep the server from closing.
  app.addHook('preClose', async () => heldRequests.stop())
  const console = openConsole(app, runtime, { ...deps, overload, maxStreams: limits.liveStreams })
  const docs = { publicUrl: config.publicUrl, document: description.document, clock, addressOf }
  const pages = { whyNotReady, docs, handsetUrl: runtime.simulatorUrl }
  // In their own Fastify scope, so that their hooks do not run for the console and the webhook ingress.
  await app.register(async (scope) => mountPages(scope, pages))
  const dataDir = config.databaseUrl === null ? config.dataDir : null
  const maxStoredBytes = config.mediaBytesPerWorkspace
  const metrics = newMetrics({
    db,
    replica: runtime.replica?.state ?? null,
    clock,
    requests,
    bodies,
    connections,
    heldRequests,
    dataDir,
    maxStoredBytes,
    version,
  })
  const metricsOptions = { ...metrics, token: config.metricsToken }
  await app.register(async (scope) => mountMetrics(scope, metricsOptions))
  return {
    app,
    async flush() {
      await console.stop()
      await recorder.stop()
    },
  }
}

/**
 * The OpenAPI document of these routes, created when it is first read, and the route that serves it. The document includes
 * that route too.
 */
export function describe(publicUrl: string, described: readonly Route[]): { document(): object; route: Route } {
  let created: Record<string, unknown> | undefined
  const document = () => {
    created ??= openApiOf({
      title: 'Parley',
      version,
      description: 'Messages over WhatsApp, with signed webhooks and durable retries.',
      publicUrl,
      routes: [...described, self],
      tags: Object.fromEntries(apiPages.map(({ label, summary }) => [label, summary])),
      events: receivedEventSchemas,
    })
    return created
  }
  const self = route({
    method: 'GET',
    path: '/v1/openapi.json',
    scope: 'public',
    summary: 'Get the OpenAPI document',
    description: 'OpenAPI 3.1, generated from the routes. The events are in its `webhooks` section.',
    tag: 'OpenAPI',
    reply: Type.Record(Type.String(), Type.Unknown(), {
      examples: [{ openapi: '3.1.0', info: { title: 'Parley', version }, paths: {} }],
    }),
    handle: document,
  })
  return { document, route: self }
}
