import type { Db } from '../../../db/db.ts'
import { batched } from '../../../lib/batch.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { HmacKey } from '../../../lib/hmac.ts'
import type { Logger } from '../../../lib/logger.ts'
import { refuse } from '../../../lib/refuse.ts'
import { type Incoming, readWebhook, splitWebhook } from '../../../whatsapp/incoming.ts'
import type { InboundItem } from '../../../whatsapp/incoming-message.ts'
import type { StatusItem } from '../../../whatsapp/incoming-status.ts'
import { handshakeChallenge, hasSignatureFormat, isSignedByNetwork } from '../../../whatsapp/signature.ts'
import { applyTemplateChange, recordConnectionChange } from '../../connections/connections.ts'
import { type ParkOutcome, parkUpdates, type UnknownUpdate } from '../../connections/parked.ts'
import type { Destination } from '../../senders/senders.ts'
import { isPlain, RoutingChanged, saveInbound } from './inbound.ts'
import { Routes } from './number-routes.ts'
import { type RoutedUpdate, saveUpdates } from './record-updates.ts'

/** What the ingress knows of an app: enough to tell the network from anybody else. */
export interface AppSecrets {
  networkKey: HmacKey | null
  verifyToken: string
  /** The routing revision at which they were read. */
  revision: number
}

export interface ReceiveDeps {
  db: Db
  clock: Clock
  log: Logger
  /** The app's secrets, or undefined if there is no such app. */
  openApp(appId: string): Promise<AppSecrets | undefined>
  /** The same without asking: as they were at their revision. */
  recallApp(appId: string): AppSecrets | undefined
}

export interface Ingress {
  /** The challenge to echo in the network's handshake; null if whoever asks is not the network. */
  verifyHandshake(appId: string, queryString: string): Promise<string | null>
  /**
   * Refuses a webhook before its body is read: a signature that is missing or malformed, or an app that does not exist.
   * The database is asked only about an app that is not in memory; all that are asked for at a time share one statement.
   */
  screen(appId: string, signature: Signature): Promise<void> | undefined
  /** Resolves once all that a webhook tells is committed. */
  receive(appId: string, body: Buffer, signature: Signature): Promise<void>
}

/**
 * Network → us. The signature is checked over the bytes as they came; then everything in them is read, and all that
 * concurrent webhooks tell is kept in one transaction: messages, statuses, events and their deliveries. What is not ours
 * is noted and answered like the rest, for the network would otherwise repeat the whole batch for days. An update for an
 * unknown number of a connected account is parked in the same transaction, and published once a sync has found the number.
 *
 * Most webhooks are plain messages for numbers that are known. These are read by what is remembered of apps and numbers,
 * and kept by one statement that does nothing if that is no longer current; the others, and whatever that statement
 * refused, wait for a look first.
 */
export function newIngress(deps: ReceiveDeps): Ingress {
  const routes = new Routes(deps.db)
  // So many updates, not webhooks: one may have a thousand, and those behind it wait for as long as the batch takes.
  const limits = { maxItems: 120, maxUnderWay: 2, sizeOf: ({ items }: Webhook) => items.length }
  const keep = batched(
    oneByOneIfNeeded((webhooks) => keepAll({ ...deps, routes }, webhooks)),
    limits,
  )
  const keepPlain = batched(
    oneByOneIfNeeded((webhooks) => keepAsRemembered({ ...deps, routes }, webhooks)),
    limits,
  )

  /** Nothing if it is not signed by this app. */
  function read(app: AppSecrets | undefined, appId: string, body: Buffer, signature: Signature): Webhook | undefined {
    if (!app || !isSignedByNetwork(body, signature, app.networkKey)) return undefined
    const parsed = parse(body)
    return { appId, revision: app.revision, body: parsed, items: readWebhook(parsed, deps.clock.now()) }
  }

  async function keepByMemory(webhook: Webhook): Promise<boolean> {
    const { appId, items, revision } = webhook
    // An unknown number would only fail the whole batch, and with it the webhooks of known ones.
    const isForMemory = (item: Incoming) =>
      item.kind === 'message' &&
      isPlain(item) &&
      !routes.isUnknown({ appId, phoneNumberId: item.phoneNumberId }, revision)
    if (items.length === 0 || !items.every(isForMemory)) return false
    const outcome = await keepPlain(webhook)
    if (outcome.kind === 'failed' && !(outcome.error instanceof RoutingChanged)) throw outcome.error
    return outcome.kind === 'kept'
  }

  return {
    async verifyHandshake(appId, queryString) {
      const app = await deps.openApp(appId)
      return handshakeChallenge(queryString, app?.verifyToken ?? '')
    },
    screen(appId, signature) {
      if (!hasSignatureFormat(signature)) refuseSignature()
      if (deps.recallApp(appId)) return undefined
      return deps.openApp(appId).then((app) => (app ? undefined : refuseSignature()))
    },
    async receive(appId, body, signature) {
      const recalled = deps.recallApp(appId)
      const remembered = read(recalled, appId, body, signature)
      if (remembered && (await keepByMemory(remembered))) return
      const app = await deps.openApp(appId)
      // The very same is what it was; only what changed is read anew.
      const webhook = remembered && app === recalled ? remembered : read(app, appId, body, signature)
      if (!webhook) refuseSignature()
      const outcome = await keep(webhook)
      if (outcome.kind === 'failed') throw outcome.error
    },
  }
}

/** The same for an unknown app and a wrong signature: the response must not tell which apps exist. */
function refuseSignature(): never {
  refuse('invalid_key', { message: 'The signature is missing or is not this app’s.' })
}

type Signature = string | string[] | undefined

interface Webhook {
  appId: string
  revision: number
  /** As it was parsed: what is parked is stored as the network sent it. */
  body: unknown
  items: Incoming[]
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return refuse('invalid_json')
  }
}

type KeepDeps = ReceiveDeps & { routes: Routes }

type Outcome = { kind: 'kept' } | { kind: 'failed'; error: unknown }

/** All at once; if that fails, one by one, so that a webhook that cannot be kept costs no other. */
function oneByOneIfNeeded(keepThese: (webhooks: readonly Webhook[]) => Promise<void>) {
  return async function keepEach(webhooks: readonly Webhook[]): Promise<Outcome[]> {
    try {
      await keepThese(webhooks)
      return webhooks.map(() => ({ kind: 'kept' }))
    } catch (error) {
      if (webhooks.length === 1 || error instanceof RoutingChanged)
        return webhooks.map(() => ({ kind: 'failed', error }))
      const outcomes: Outcome[] = []
      for (const webhook of webhooks) outcomes.push(...(await keepEach([webhook])))
      return outcomes
    }
  }
}

/** Webhooks of plain messages only. */
async function keepAsRemembered({ db, clock, routes }: KeepDeps, webhooks: readonly Webhook[]): Promise<void> {
  const { revision, addressed } = await place(routes, webhooks)
  const arrivals = addressed.flatMap(({ item, destination }) =>
    destination !== null && item.kind === 'message' ? [{ item, destination }] : [],
  )
  // A number that is not known may have become ours since.
  if (arrivals.length < addressed.length || webhooks.some((each) => each.revision !== revision))
    throw new RoutingChanged()
  await saveInbound(db, clock.now(), arrivals, revision)
}

async function keepAll({ db, clock, log, routes }: KeepDeps, webhooks: readonly Webhook[]): Promise<void> {
  const now = clock.now()
  const { addressed } = await place(routes, webhooks)
  const placed = addressed.filter((each): each is Addressed & RoutedUpdate => each.destination !== null)
  const unknown = addressed.filter(({ destination }) => destination === null)
  const updates = unknown.length === 0 ? [] : updatesFor(unknown, webhooks)
  if (placed.length + updates.length > 0) {
    const outcomes = await db.transaction(async (tx) => {
      await saveUpdates(tx, now, placed)
      return parkUpdates(tx, now, updates)
    })
    logUnknown(
      log,
      updates.map((update, index) => ({ ...update, outcome: outcomes[index] ?? 'not_connected' })),
    )
  }
  for (const { appId, item } of unknown) {
    const { phoneNumberId, wabaId } = item
    if (wabaId === null)
      log.info(
        { event: 'update.dropped', app_id: appId, phone_number_id: phoneNumberId },
        'update dropped: it names no account',
      )
  }
  for (const { appId, items } of webhooks) for (const item of items) await applyNotice(db, log, clock, appId, item)
}

const numberKeyOf = ({
  appId,
  wabaId,
  phoneNumberId,
}: {
  appId: string
  wabaId: string | null
  phoneNumberId: string
}) => `${appId} ${wabaId} ${phoneNumberId}`

/** The changes that bring messages or statuses for unknown numbers. */
function updatesFor(unknown: readonly Addressed[], webhooks: readonly Webhook[]): UnknownUpdate[] {
  const keys = new Set(unknown.map(({ appId, item }) => numberKeyOf({ ...item, appId })))
  return webhooks.flatMap(({ appId, body }) =>
    splitWebhook(body).flatMap((change) => (keys.has(numberKeyOf({ ...change, appId })) ? [{ ...change, appId }] : [])),
  )
}

/** One line per number and batch. */
function logUnknown(log: Logger, updates: readonly (UnknownUpdate & { outcome: ParkOutcome })[]): void {
  for (const own of Map.groupBy(updates, numberKeyOf).values()) {
    const count = (wanted: ParkOutcome) => own.filter(({ outcome }) => outcome === wanted).length
    const { appId, wabaId, phoneNumberId } = own[0] as UnknownUpdate
    const fields = { app_id: appId, waba_id: wabaId, phone_number_id: phoneNumberId }
    if (count('not_connected') > 0) {
      const dropped = { event: 'update.dropped', ...fields, updates: own.length } as const
      log.info(dropped, 'update dropped: the account is not connected through this app')
    } else {
      const parked = {
        event: 'update.parked',
        ...fields,
        updates: count('parked'),
        repeated: count('repeated'),
      } as const
      log.info(parked, 'update parked: its number is not synced yet')
    }
  }
}

/**
 * The messages and statuses of webhooks, each with where it belongs, or null if its number is not one of ours; and the
 * routing revision at which that is so.
 */
async function place(
  routes: Routes,
  webhooks: readonly Webhook[],
): Promise<{ revision: number; addressed: Addressed[] }> {
  const items = webhooks.flatMap(({ appId, items }) =>
    items.flatMap((item) => (item.kind === 'message' || item.kind === 'status' ? [{ appId, item }] : [])),
  )
  const { revision, destinations } = await routes.find(
    items.map(({ appId, item: { phoneNumberId } }) => ({ appId, phoneNumberId })),
    Math.max(...webhooks.map(({ revision }) => revision)),
  )
  const addressed = items.map((each, index) => ({ ...each, destination: destinations[index] ?? null }))
  return { revision, addressed }
}

interface Addressed {
  appId: string
  item: InboundItem | StatusItem
  destination: Destination | null
}

/** Template changes, account notices and problems: updates that lead to no event. */
async function applyNotice(db: Db, log: Logger, clock: Clock, appId: string, item: Incoming): Promise<void> {
  switch (item.kind) {
    case 'template':
      await applyTemplateChange(db, clock, appId, item)
      return
    case 'notice':
      if (item.about === 'number') await recordConnectionChange(db, clock, appId, item.wabaId)
      log.info(
        { event: 'network.notice', app_id: appId, waba_id: item.wabaId, field: item.field, notice: item.event },
        'the network sent a notice',
      )
      return
    case 'problem':
      log.warn(
        { event: 'network.problem', app_id: appId, phone_number_id: item.phoneNumberId, network_code: item.error.code },
        'the network reports a problem',
      )
      return
    case 'ignored':
      log.info(
        {
          event: 'update.ignored',
          app_id: appId,
          reason: item.reason,
          what: item.what,
          phone_number_id: item.phoneNumberId,
        },
        'update ignored',
      )
  }
}
