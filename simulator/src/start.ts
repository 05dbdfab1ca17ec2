import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Clock, systemClock, Timers } from './clock.ts'
import { type Control, makeControl } from './control/control.ts'
import { loadDataset } from './control/create.ts'
import { controlRoutes } from './control/routes.ts'
import { type Dataset, type DatasetName, datasetShape } from './control/shapes.ts'
import { demoDataset } from './datasets/demo.ts'
import { assetRoutes } from './graph/flows.ts'
import { downloadRoutes } from './graph/media.ts'
import { graphRoutes } from './graph/server.ts'
import { handsetRoutes } from './handset-page.ts'
import { newTraceId } from './ids.ts'
import { folderStore, memoryStore } from './media-store.ts'
import { errorBody, GraphError } from './network/errors.ts'
import { resumeLifecycles } from './network/lifecycle.ts'
import { Limits } from './network/limits.ts'
import { destinationOf, type Network } from './network.ts'
import { NetworkLog } from './network-log.ts'
import { readRawBody } from './read-raw-body.ts'
import { readState, type Saved, StateFile } from './state-file.ts'
import { pageRoutes } from './status-page.ts'
import { recordAccepted } from './webhooks/accepted.ts'
import { Outlet } from './webhooks/post.ts'
import { WebhookQueue } from './webhooks/queue.ts'
import { emptyWorld, replaceWorld } from './world.ts'

export interface SimulatorOptions {
  host?: string
  /** 0 takes any free port. */
  port?: number
  /** Its address as others see it, for links to media; else the one it listens on. */
  publicUrl?: string
  clock?: Clock
  /** What the world holds at first, unless a state file says otherwise. */
  dataset?: DatasetName | Dataset
  /** Where the world is kept between runs; media lie in a folder beside it. */
  stateFile?: string
  /** Gets a line for everything on the wire. */
  log?: (line: string) => void
  /** How many lines of the wire log are kept. */
  keptLog?: number
}

export interface Simulator {
  url: string
  control: Control
  stop(): Promise<void>
}

/** Starts a pretend WhatsApp network and resolves once it listens. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const saved = options.stateFile === undefined ? undefined : readState(options.stateFile)
  const { network, stateFile } = buildNetwork(options, saved)
  const load = (dataset: DatasetName | Dataset) =>
    loadDataset(network, dataset === 'demo' ? demoDataset : dataset === 'empty' ? {} : datasetShape(dataset, 'dataset'))
  if (!saved) load(options.dataset ?? 'demo')
  const control = makeControl(network, (dataset) => resetWorld(network, () => load(dataset)))
  const server = buildServer(network, control)
  try {
    await server.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 })
  } catch (error) {
    stateFile?.abandon()
    await network.outlet.close()
    throw error
  }
  network.url = options.publicUrl ?? urlOf(server.server.address() as AddressInfo)
  if (saved) {
    network.queue.restore(saved.batches)
    resumeLifecycles(network)
  }
  return {
    url: network.url,
    control,
    async stop() {
      network.timers.cancelAll()
      network.queue.stop()
      await network.outlet.close()
      await server.close()
      network.timers.cancelAll()
      await stateFile?.close()
    },
  }
}

/** Listening everywhere includes the loopback address, and that one can be fetched from. */
function urlOf({ address, port }: AddressInfo): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function buildNetwork(options: SimulatorOptions, saved: Saved | undefined) {
  const world = saved?.world ?? emptyWorld()
  const timers = new Timers(options.clock ?? systemClock)
  const log = new NetworkLog(() => timers.now(), options.keptLog ?? 1000, options.log ?? (() => undefined))
  const outlet = new Outlet()
  const changed = () => stateFile?.changed()
  const queue = new WebhookQueue({
    timers,
    outlet,
    log,
    changed,
    destinationOf: (update) => destinationOf(world, update),
    taken: (update) => recordAccepted(world, log, update),
  })
  const path = options.stateFile
  const collect = () => ({ world, batches: queue.snapshot() })
  const failed = (error: unknown) => log.note(`The state file could not be written: ${String(error)}`)
  const stateFile = path === undefined ? undefined : new StateFile(path, collect, failed)
  const media = path === undefined ? memoryStore() : folderStore(`${path}.media`)
  const network: Network = { world, timers, log, queue, outlet, limits: new Limits(), media, url: '', changed }
  return { network, stateFile }
}

function buildServer(network: Network, control: Control): FastifyInstance {
  const server = Fastify({
    logger: false,
    forceCloseConnections: true,
    bodyLimit: 1024 * 1024,
    exposeHeadRoutes: false,
  })
  // Everyone reads the raw bytes: Graph has its own idea of forms, and the control API its own words for bad JSON.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', readRawBody)
  graphRoutes(server, network)
  controlRoutes(server, control)
  downloadRoutes(server, network)
  assetRoutes(server, network)
  pageRoutes(server, network)
  handsetRoutes(server)
  server.setNotFoundHandler((request, reply) => {
    if (request.url.startsWith('/control'))
      return reply
        .code(404)
        .send({ error: { message: `There is no ${request.method} ${request.url} in the control API.`, field: null } })
    const error = new GraphError(2500, { title: `Unknown path components: ${request.url.split('?')[0]}` }).error
    return reply.code(error.status).send(errorBody(error, newTraceId()))
  })
  server.setErrorHandler((failure: Error & { statusCode?: number }, request, reply) => {
    const status = failure.statusCode ?? 500
    if (status >= 500) network.log.note(`A bug: ${failure.stack ?? failure.message}`)
    if (request.url.startsWith('/control'))
      return reply.code(status).send({ error: { message: failure.message, field: null } })
    const { error } = new GraphError(status >= 500 ? 1 : 100, { status, details: failure.message })
    return reply.code(status).send(errorBody(error, newTraceId()))
  })
  return server
}

/** Starts the world anew. Apps that come back keep the callback they had, so whoever listens goes on listening. */
function resetWorld(network: Network, load: () => void): void {
  const apps = [...network.world.apps.values()]
  network.timers.cancelAll()
  network.queue.clear()
  network.limits.clear()
  network.media.clear()
  replaceWorld(network.world, emptyWorld())
  load()
  for (const { id, callbackUrl, verifyToken, secret } of apps) {
    const again = network.world.apps.get(id)
    if (again) Object.assign(again, { callbackUrl, verifyToken, secret })
  }
  network.log.tell({ name: 'reset', data: {} })
  network.changed()
}
