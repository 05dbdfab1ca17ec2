import { eventSchemas } from '@parley/contract/events'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type Config, version } from './config.ts'
import type { Database } from './db/db.ts'
import type { Vault } from './domain/connections/vault.ts'
import { newGate } from './domain/keys/admit.ts'
import { startKeeper } from './domain/keys/keeper.ts'
import { keyRoutes } from './domain/keys/keys.routes.ts'
import { KeyUses } from './domain/keys/uses.ts'
import { messageRoutes } from './domain/messages/messages.routes.ts'
import { newIngress } from './domain/messages/receive.ts'
import { RequestLog } from './domain/requests/request-log.ts'
import { senderRoutes } from './domain/senders/senders.routes.ts'
import { templateRoutes } from './domain/templates/templates.routes.ts'
import { webhookRoutes } from './domain/webhooks/webhooks.routes.ts'
import { errorsPage } from './http/errors-page.ts'
import { mountIngress } from './http/ingress.ts'
import { openApiOf } from './http/openapi.ts'
import { mountPages } from './http/pages.ts'
import { type Patience, usualPatience } from './http/patience.ts'
import { mountRoutes, type PipelineDeps } from './http/pipeline.ts'
import { mountReference } from './http/reference.ts'
import { type Route, route } from './http/route.ts'
import { newHttpServer } from './http/server.ts'
import type { Clock } from './lib/clock.ts'
import type { Logger } from './lib/logger.ts'

/** The table of contents: every route there is under /v1. */
export const routes: readonly Route[] = [
  ...keyRoutes,
  ...senderRoutes,
  ...templateRoutes,
  ...messageRoutes,
  ...webhookRoutes,
]

export interface Api {
  app: FastifyInstance
  /** Writes what is still in memory; after this the request log is complete. */
  flush(): Promise<void>
}

export interface ApiDeps {
  db: Database
  clock: Clock
  log: Logger
  config: Pick<Config, 'publicUrl' | 'trustProxy'>
  /** Opens the secrets of apps, which tell the network from anybody else. */
  vault: Vault
  /** Ready to serve: the database answers and nobody has asked us to stop. */
  isReady(): Promise<boolean>
  /** Routes besides those of the product, for tests of the pipeline. */
  moreRoutes?: readonly Route[]
  patience?: Patience
}

export async function buildApi({
  db,
  clock,
  log,
  config,
  vault,
  isReady,
  moreRoutes = [],
  patience = usualPatience,
}: ApiDeps): Promise<Api> {
  const requestLog = new RequestLog(db, log)
  const uses = new KeyUses(db, log)
  const keeper = await startKeeper(db, clock, log)
  const deps: PipelineDeps = {
    db,
    clock,
    log,
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    patience,
    admit: newGate(db, clock, keeper),
    record(record) {
      requestLog.record(record)
      uses.note(record)
    },
  }
  const app = newHttpServer(deps)
  const all = [...routes, ...moreRoutes, openApiRoute(config.publicUrl, [...routes, ...moreRoutes])]
  await app.register(async (v1) => mountRoutes(v1, all, deps), { prefix: '/v1' })

  const ingress = newIngress({ db, clock, log, openApp: (appId) => vault.openApp(appId) })
  await app.register((part) => mountIngress(part, { ...ingress, log, patience, publicUrl: config.publicUrl }), {
    prefix: '/network',
  })
  const pages = { isReady, publicUrl: config.publicUrl, pages: { '/docs/errors': errorsPage() } }
  // In a room of their own: a hook of the whole server would run for every request under /v1 as well.
  await app.register(async (outside) => mountPages(outside, pages))
  await app.register(mountReference)
  return {
    app,
    async flush() {
      await requestLog.stop()
      await uses.stop()
      await keeper.stop()
    },
  }
}

function openApiRoute(publicUrl: string, described: readonly Route[]): Route {
  const self = route({
    method: 'GET',
    path: '/v1/openapi.json',
    scope: 'public',
    summary: 'This description',
    description: 'OpenAPI 3.1, made from the routes. The events are in its `webhooks` section.',
    tag: 'Description',
    reply: Type.Record(Type.String(), Type.Unknown()),
    handle: () => document,
  })
  const document = openApiOf({
    title: 'Parley',
    version,
    description: 'Messages over WhatsApp, with webhooks that are never lost.',
    publicUrl,
    routes: [...described, self],
    events: eventSchemas,
  })
  return self
}
