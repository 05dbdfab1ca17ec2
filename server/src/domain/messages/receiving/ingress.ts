import { inBriefTransaction } from '../../../db/connect/brief-transaction.ts'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Refusal, refuse } from '../../../lib/refuse.ts'
import { type BatchLimits, batched } from '../../../sharing/batch.ts'
import type { Overload } from '../../../sharing/overload.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Telemetry } from '../../../telemetry/telemetry.ts'
import type { TracedWebhook } from '../../../telemetry/tracing.ts'
import { type fieldReaders, type Incoming, readWebhook } from '../../../whatsapp/incoming/incoming.ts'
import { handshakeChallenge, hasSignatureFormat, isSignedByNetwork } from '../../../whatsapp/incoming/signature.ts'
import type { OpenApp, Vault } from '../../connections/vault.ts'
import type { Destination } from '../../senders/senders.ts'
import { applyNotice } from './apply-notice.ts'
import { isPlain, RoutingChanged, saveInbound } from './inbound.ts'
import { NumberRoutes } from './number-routes.ts'
import { throwIfFailed, withOneByOneFallback } from './one-by-one.ts'
import { logWithoutAccount, otherChanges, recordParked, saveOtherChanges } from './other-changes.ts'
import { isUpdate, type RoutedUpdate, saveUpdates, type UpdateItem } from './record-updates.ts'
import { type StatusReport, toReport } from './status-changes.ts'
import { savePlainStatuses, saveStatuses } from './statuses.ts'

export interface ReceiveDeps extends Pick<Vault, 'openApp' | 'cachedApp'> {
  db: Db
  clock: Clock
  log: Logger
  overload: Overload
  /** Of this service, for links in events. */
  publicUrl: string
  /** Tests pass others. */
  readers?: typeof fieldReaders
}

export interface Ingress {
  /** The challenge to return in the network's handshake. Null if the verify token is wrong. */
  verifyHandshake(appId: string, queryString: string): Promise<string | null>
  /**
   * Refuses a webhook before its body is read if the signature is missing or malformed or the app does not exist. Reads the
   * database only for an app that is not cached; concurrent reads share one statement.
   */
  screen(appId: string, signature: Signature): Promise<void> | undefined
  /** Resolves when all updates of the webhook are committed. */
  receive(appId: string, body: Buffer, signature: Signature): Promise<void>
}

/**
 * Receives webhooks from the network (WhatsApp). The signature is checked over the raw body. Then the updates of
 * concurrent webhooks are stored in one transaction: messages, statuses, events and their deliveries. Changes that were
 * not read completely, and those of accounts that are not connected, are stored as network updates in the same
 * transaction. So is an update for an unknown number of a connected account: it is parked, and published when a sync
 * has found the number.
 *
 * Fast path: most webhooks have only plain messages and statuses for known numbers. They are routed with cached apps
 * and numbers and stored by one statement, which stores nothing if the routing revision has changed. For all other
 * webhooks, and for webhooks that this statement rejected, the current revision is read from the database first.
 */
export function newIngress(deps: ReceiveDeps): Ingress {
  const routes = new NumberRoutes(deps.db)
  // Counts updates, not webhooks: a webhook may have a thousand, and the next batch waits until this one is done.
  const most = { maxItems: 120, maxConcurrent: 2 }
  const limits: BatchLimits<Webhook> = { ...most, sizeOf: ({ items }) => countUpdates(items) }
  const storeBatched = batched(
    withOneByOneFallback(async (webhooks: readonly Webhook[]) => {
      await storeAll({ ...deps, routes }, webhooks)
      return webhooks.map(() => undefined)
    }),
    limits,
  )
  const storeByCache = withOneByOneFallback((webhooks: readonly Webhook[]) =>
    storeByCachedRoutes({ ...deps, routes }, webhooks),
  )
  // Batches of their own: messages need one statement, most statuses two, and the others a transaction. So a short batch does not wait for a longer one.
  const storeMessagesBatched = batched(storeByCache, { ...limits, gapMs: storeGapMs })
  const storeStatusesBatched = batched(storeByCache, { ...limits, gapMs: storeGapMs })
  const storeRestBatched = batched(
    withOneByOneFallback(async (groups: readonly StatusReport[][]) => {
      await inBriefTransaction(deps.db, (tx) => saveStatuses(tx, deps.clock.now(), groups.flat()))
      return groups.map(() => undefined)
    }),
    { ...most, sizeOf: (reports) => reports.length },
  )

  /** Undefined if the signature is wrong. */
  function read(app: OpenApp | undefined, { appId, body, signature, span }: Posted): Webhook | undefined {
    if (!app || !isSignedByNetwork(body, signature, app.networkKey)) return undefined
    const items = readWebhook(parse(body), deps.clock.now(), deps.readers)
    if (span) markWith(span, items)
    return { appId, revision: app.revision, body, items }
  }

  let waitingUpdates = 0

  /** Counts the updates of a webhook while it waits for the database, and refuses it if too many wait already. */
  async function whileCounted(updates: number, work: () => Promise<void>): Promise<void> {
    if (waitingUpdates > 0 && waitingUpdates + updates > maxWaitingUpdates) {
      throw deps.overload.refusal('waiting_updates')
    }
    waitingUpdates += updates
    try {
      await work()
    } finally {
      waitingUpdates -= updates
    }
  }

  /** The fast path. Returns false if the webhook cannot take it or the routing has changed. */
  async function storeFromCache(webhook: Webhook): Promise<boolean> {
    const { appId, items, revision } = webhook
    // An unknown number would make the whole batch fail, including webhooks for known numbers.
    const isPlainForKnownNumber = (item: Incoming) =>
      (item.kind === 'status' || (item.kind === 'message' && isPlain(item))) &&
      !routes.isUnknown({ appId, phoneNumberId: item.phoneNumberId }, revision)
    if (items.length === 0 || !items.every(isPlainForKnownNumber)) return false
    const hasStatus = items.some(({ kind }) => kind === 'status')
    const outcome = await (hasStatus ? storeStatusesBatched(webhook) : storeMessagesBatched(webhook))
    if (outcome.kind === 'stored') {
      if (outcome.result.length > 0) throwIfFailed(await storeRestBatched(outcome.result))
      return true
    }
    if (!(outcome.error instanceof RoutingChanged)) throw outcome.error
    return false
  }

  async function screenUncached(appId: string, hasFormat: boolean): Promise<void> {
    try {
      if (!hasFormat || !(await deps.openApp(appId))) refuseSignature()
    } catch (error) {
      deps.db.telemetry.metrics.add('network webhooks', outcomeOf(error))
      throw error
    }
  }

  return {
    async verifyHandshake(appId, queryString) {
      const app = await deps.openApp(appId)
      return handshakeChallenge(queryString, app?.verifyToken ?? '')
    },
    screen(appId, signature) {
      const hasFormat = hasSignatureFormat(signature)
      return hasFormat && deps.cachedApp(appId) ? undefined : screenUncached(appId, hasFormat)
    },
    receive(appId, body, signature) {
      return measured(deps.db.telemetry, (span) => {
        const posted = { appId, body, signature, span }
        const cachedSecrets = deps.cachedApp(appId)
        const cached = read(cachedSecrets, posted)
        return whileCounted(Math.max(1, countUpdates(cached?.items ?? [])), async () => {
          if (cached && (await storeFromCache(cached))) return
          const app = await deps.openApp(appId)
          // Verify and parse the webhook again only if the app's secrets have changed.
          const webhook = app === cachedSecrets ? cached : read(app, posted)
          if (!webhook) refuseSignature()
          throwIfFailed(await storeBatched(webhook))
        })
      })
    },
  }
}

/** A webhook as it arrived. */
interface Posted {
  appId: string
  body: Buffer
  signature: Signature
  span: TracedWebhook | undefined
}

/** Counts and times a webhook, and records its span, to which its events add the messages that it is about. */
async function measured(
  { metrics, tracing }: Telemetry,
  store: (span: TracedWebhook | undefined) => Promise<void>,
): Promise<void> {
  const began = performance.now()
  const span = tracing?.beginWebhook()
  let outcome = 'kept'
  try {
    await store(span)
  } catch (error) {
    outcome = outcomeOf(error)
    throw error
  } finally {
    metrics.add('network webhooks', outcome)
    metrics.time('network webhooks', performance.now() - began)
    if (span) tracing?.endWebhook(span, outcome)
  }
}

const outcomeOf = (error: unknown): string => (error instanceof Refusal ? 'refused' : 'failed')

function markWith(span: TracedWebhook, items: readonly Incoming[]): void {
  span.updates = items.length
  for (const item of items) if (item.kind === 'message' || item.kind === 'status') item.webhook = span
}

/** A chunk of history counts as many as it has messages. */
const countUpdates = (items: readonly Incoming[]): number =>
  items.reduce((sum, item) => sum + (item.kind === 'history' ? Math.max(1, item.messages.length) : 1), 0)

/** The same response for an unknown app and a wrong signature, so that it does not reveal which apps exist. */
function refuseSignature(): never {
  refuse('invalid_key', { message: 'Invalid signature. Check the app secret.' })
}

/**
 * How many updates may wait for the database: one to four seconds of the highest load, and about 150 MB. WhatsApp repeats a rejected webhook. A webhook with more is accepted if no other waits.
 */
const maxWaitingUpdates = 20_000

/** A statement costs PostgreSQL as much as several messages in it. */
const storeGapMs = 10

type Signature = string | string[] | undefined

interface Webhook {
  appId: string
  revision: number
  /**
   * As it was sent, for parked and network updates. Parsing it again for those is cheaper than holding the parsed form of every webhook:
   * it can take ten times the memory.
   */
  body: Buffer
  items: Incoming[]
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return refuse('invalid_json')
  }
}

type StoreDeps = ReceiveDeps & { routes: NumberRoutes }

/** For webhooks that have only plain messages and statuses. Returns for each webhook the statuses that need a transaction. */
async function storeByCachedRoutes(
  { db, clock, routes, publicUrl }: StoreDeps,
  webhooks: readonly Webhook[],
): Promise<StatusReport[][]> {
  const now = clock.now()
  const { revision, routed } = await routeItems(routes, webhooks)
  const known = routed.filter(isRouted)
  // An unknown number may have been added since the cached revision.
  if (known.length < routed.length || webhooks.some((each) => each.revision !== revision)) throw new RoutingChanged()
  const arrivals = known.flatMap(({ item, destination }) => (item.kind === 'message' ? [{ item, destination }] : []))
  await saveInbound(db, now, arrivals, publicUrl, revision)
  const reports = new Map(
    known.flatMap(({ item, destination }) => (item.kind === 'status' ? [[item, toReport(item, destination)]] : [])),
  )
  const rest = new Set(await savePlainStatuses(db, now, [...reports.values()], revision))
  return webhooks.map(({ items }) =>
    rest.size === 0
      ? []
      : items
          .flatMap((item) => (item.kind === 'status' && reports.get(item)) || [])
          .filter((report) => rest.has(report)),
  )
}

const isRouted = (each: RoutedItem): each is RoutedItem & RoutedUpdate => each.destination !== null

async function storeAll({ db, clock, log, routes, publicUrl }: StoreDeps, webhooks: readonly Webhook[]): Promise<void> {
  const now = clock.now()
  const { revision, routed } = await routeItems(routes, webhooks)
  const known = routed.filter(isRouted)
  const unknown = routed.filter(({ destination }) => destination === null)
  const unknownItems = new Set<Incoming>(unknown.map(({ item }) => item))
  const hasOther = ({ items }: Webhook) => items.some((item) => !isUpdate(item) || unknownItems.has(item))
  const changes = await otherChanges(routes, revision, webhooks.filter(hasOther))
  if (known.length + changes.length > 0) {
    const parked = await inBriefTransaction(db, async (tx) => {
      const saved = await saveOtherChanges(tx, now, changes)
      await saveUpdates(tx, now, known, publicUrl)
      return saved
    })
    await recordParked({ db, log, now }, unknown, parked)
  }
  logWithoutAccount(log, unknown)
  for (const { appId, items } of webhooks) for (const item of items) await applyNotice(db, log, clock, appId, item)
}

/**
 * The updates of webhooks with their destinations, and the routing revision at which these are valid. The
 * destination is null if the number is unknown.
 */
async function routeItems(
  routes: NumberRoutes,
  webhooks: readonly Webhook[],
): Promise<{ revision: number; routed: RoutedItem[] }> {
  const items = webhooks.flatMap(({ appId, items }) => items.filter(isUpdate).map((item) => ({ appId, item })))
  const { revision, destinations } = await routes.find(
    items.map(({ appId, item: { phoneNumberId } }) => ({ appId, phoneNumberId })),
    Math.max(...webhooks.map(({ revision }) => revision)),
  )
  const routed = items.map((each, index) => ({ ...each, destination: destinations[index] ?? null }))
  return { revision, routed }
}

interface RoutedItem {
  appId: string
  item: UpdateItem
  destination: Destination | null
}
