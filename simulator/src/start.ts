import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Clock, systemClock, Timers } from './clock.ts'
import { type Control, makeControl } from './control/control.ts'
import { loadDataset } from './control/create.ts'
import { controlRoutes } from './control/routes.ts'
import { type Dataset, type DatasetName, datasetShape } from './control/shapes.ts'
import { demoDataset } from './datasets/demo.ts'
import { type DemoSecrets, demoSecretsIn, newDemoSecrets } from './datasets/demo-secrets.ts'
import { assetRoutes } from './graph/flows.ts'
import { downloadRoutes } from './graph/media.ts'
import { graphRoutes } from './graph/server.ts'
import { findOtherSite } from './guard.ts'
import { handsetRoutes } from './handset-page.ts'
import { newTraceId } from './ids.ts'
import { folderStore, memoryStore } from './media-store.ts'
import { errorBody, GraphError } from './network/errors.ts'
import { resumeLifecycles } from './network/lifecycle.ts'
import { Limits } from './network/limits.ts'
import { destinationOf, type LocalApp, type Network } from './network.ts'
import { NetworkLog } from './network-log.ts'
import { readRawBody } from './read-raw-body.ts'
import { readState, type SavedState, StateFile } from './state-file.ts'
import { statusRoutes } from './status-page.ts'
import { recordAccepted } from './webhooks/accepted.ts'
import { HttpClient } from './webhooks/http-client.ts'
import { WebhookQueue } from './webhooks/queue.ts'
import { emptyWorld, replaceWorld } from './world.ts'

export interface SimulatorOptions {
  host?: string
  /** 0 picks a free port. */
  port?: number
  /** The URL used in media links. Defaults to the address it listens on. */
  publicUrl?: string
  /** The console of the app. The handset links to it, and the console may show the handset in a frame. */
  consoleUrl?: string
  clock?: Clock
  /** An app in the same process, whose clock moves with this one. */
  app?: LocalApp
  /** The initial data. Ignored when the state file already exists. */
  dataset?: DatasetName | Dataset
  /** The secrets of the demo dataset. By default those of the state file, else random ones. */
  demoSecrets?: DemoSecrets
  /** Saves the state between runs. Media files go into `<file>.media/`. */
  stateFile?: string
  /** Receives one line per API call, webhook and note. */
  log?: (line: string) => void
  /** How many entries the network log keeps. */
  maxLogEntries?: number
}

export interface Simulator {
  url: string
  control: Control
  stop(): Promise<void>
}

/** Starts a simulated WhatsApp network and resolves when it is listening. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const saved = options.stateFile === undefined ? undefined : readState(options.stateFile)
  const secrets = options.demoSecrets ?? (saved && demoSecretsIn(saved.world)) ?? newDemoSecrets()
  const { network, stateFile } = buildNetwork(options, saved)
  const load = (dataset: DatasetName | Dataset) =>
    loadDataset(
      network,
      dataset === 'demo' ? demoDataset(secrets) : dataset === 'empty' ? {} : datasetShape(dataset, 'dataset'),
    )
  if (!saved) load(options.dataset ?? 'demo')
  const control = makeControl(network, (dataset) => resetWorld(network, () => load(dataset)))
  const server = buildServer(network, control, hostNames(options), options.consoleUrl ?? null)
  try {
    await server.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 })
  } catch (error) {
    stateFile?.discard()
    await network.http.close()
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
      await network.http.close()
      await server.close()
      network.timers.cancelAll()
      await stateFile?.close()
    },
  }
}

/** A wildcard address cannot be requested, so the URL then uses the loopback address. */
function urlOf({ address, port }: AddressInfo): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function buildNetwork(options: SimulatorOptions, saved: SavedState | undefined) {
  const world = saved?.world ?? emptyWorld()
  const timers = new Timers(options.clock ?? systemClock)
  const log = new NetworkLog(() => timers.now(), options.maxLogEntries ?? 1000, options.log ?? (() => undefined))
  const http = new HttpClient()
  const changed = () => stateFile?.changed()
  const queue = new WebhookQueue({
    timers,
    http,
    log,
    changed,
    destinationOf: (update) => destinationOf(world, update),
    onAccepted: (update) => recordAccepted(world, log, update),
  })
  const path = options.stateFile
  const snapshot = () => ({ world, batches: queue.snapshot() })
  const onError = (error: unknown) => log.note(`Could not write the state file: ${String(error)}`)
  const stateFile = path === undefined ? undefined : new StateFile(path, snapshot, onError)
  const media = path === undefined ? memoryStore() : folderStore(`${path}.media`)
  const network: Network = {
    world,
    timers,
    log,
    queue,
    http,
    limits: new Limits(),
    media,
    url: '',
    changed,
    app: options.app,
  }
  return { network, stateFile }
}

/** The host names of its settings. */
function hostNames({ host, publicUrl }: SimulatorOptions): string[] {
  return [...(host === undefined ? [] : [host]), ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])]
}

function buildServer(
  network: Network,
  control: Control,
  names: readonly string[],
  consoleUrl: string | null,
): FastifyInstance {
  const server = Fastify({
    logger: false,
    forceCloseConnections: true,
    bodyLimit: 1024 * 1024,
    exposeHeadRoutes: false,
  })
  server.addHook('onRequest', async (request, reply) => {
    const problem = findOtherSite(request, names)
    if (problem !== undefined) return reply.code(403).send({ error: { message: problem, field: null } })
  })
  // Routes parse the raw bytes themselves: the Graph API has its own form handling, and the control API its own error
  // messages for invalid JSON.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', readRawBody)
  graphRoutes(server, network)
  controlRoutes(server, control)
  downloadRoutes(server, network)
  assetRoutes(server, network)
  statusRoutes(server, network)
  handsetRoutes(server, consoleUrl)
  server.setNotFoundHandler((request, reply) => {
    if (request.url.startsWith('/control'))
      return reply
        .code(404)
        .send({ error: { message: `Unknown control API route: ${request.method} ${request.url}.`, field: null } })
    const error = new GraphError(2500, { title: `Unknown path components: ${request.url.split('?')[0]}` }).error
    return reply.code(error.status).send(errorBody(error, newTraceId()))
  })
  server.setErrorHandler((failure: Error & { statusCode?: number }, request, reply) => {
    const status = failure.statusCode ?? 500
    if (status >= 500) network.log.note(`Internal error: ${failure.stack ?? failure.message}`)
    if (request.url.startsWith('/control'))
      return reply.code(status).send({ error: { message: failure.message, field: null } })
    const { error } = new GraphError(status >= 500 ? 1 : 100, { status, details: failure.message })
    return reply.code(status).send(errorBody(error, newTraceId()))
  })
  return server
}

/** Replaces the whole state. Apps that exist again keep their callback, so a connected app continues receiving webhooks. */
function resetWorld(network: Network, load: () => void): void {
  const apps = [...network.world.apps.values()]
  network.timers.cancelAll()
  network.queue.clear()
  network.limits.clear()
  network.media.clear()
  replaceWorld(network.world, emptyWorld())
  load()
  for (const { id, callbackUrl, verifyToken, secret, fields } of apps) {
    const app = network.world.apps.get(id)
    if (app) Object.assign(app, { callbackUrl, verifyToken, secret, ...(fields ? { fields } : {}) })
  }
  network.log.publish({ name: 'reset', data: {} })
  network.changed()
}
