import { eventSchemas } from '@parley/contract/events'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type Config, version } from './config.ts'
import type { Db } from './db/db.ts'
import { newGate } from './domain/keys/admit.ts'
import { keyRoutes } from './domain/keys/keys.routes.ts'
import { KeyUses } from './domain/keys/uses.ts'
import { RequestLog } from './domain/requests/requests.ts'
import { webhookRoutes } from './domain/webhooks/webhooks.routes.ts'
import { errorsPage } from './http/errors-page.ts'
import { openApiOf } from './http/openapi.ts'
import { mountPages } from './http/pages.ts'
import { mountRoutes, type PipelineDeps } from './http/pipeline.ts'
import { type Route, route } from './http/route.ts'
import { newHttpServer } from './http/server.ts'
import type { Clock } from './lib/clock.ts'
import type { Logger } from './lib/logger.ts'

/** The table of contents: every route there is under /v1. */
export const routes: readonly Route[] = [...keyRoutes, ...webhookRoutes]

export interface Api {
  app: FastifyInstance
  /** Writes what is still in memory; after this the request log is complete. */
  flush(): Promise<void>
}

export interface ApiDeps {
  db: Db
  clock: Clock
  log: Logger
  config: Pick<Config, 'publicUrl' | 'trustProxy'>
  /** Ready to serve: the database answers and nobody has asked us to stop. */
  isReady(): Promise<boolean>
  /** Routes besides those of the product, for tests of the pipeline. */
  moreRoutes?: readonly Route[]
}

export async function buildApi({ db, clock, log, config, isReady, moreRoutes = [] }: ApiDeps): Promise<Api> {
  const requestLog = new RequestLog(db, log)
  const uses = new KeyUses(db, log)
  const deps: PipelineDeps = {
    db,
    clock,
    log,
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    admit: newGate(db, clock),
    record(record) {
      requestLog.record(record)
      if (record.caller) uses.note(record.caller, record.at, record.address)
    },
  }
  const app = newHttpServer(deps)
  const all = [...routes, ...moreRoutes, openApiRoute(config.publicUrl, [...routes, ...moreRoutes])]
  await app.register(async (v1) => mountRoutes(v1, all, deps), { prefix: '/v1' })

  mountPages(app, { isReady, publicUrl: config.publicUrl, pages: { '/docs/errors': errorsPage() } })
  await app.register(scalar, {
    routePrefix: '/docs/api',
    configuration: { url: '/v1/openapi.json', title: 'Parley API', withDefaultFonts: false, telemetry: false },
  })
  return {
    app,
    async flush() {
      await requestLog.stop()
      await uses.stop()
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
