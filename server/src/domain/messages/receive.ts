import type { Db } from '../../db/db.ts'
import { batched } from '../../lib/batch.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import { refuse } from '../../lib/refuse.ts'
import { type Incoming, readWebhook } from '../../whatsapp/incoming.ts'
import type { InboundItem } from '../../whatsapp/incoming-message.ts'
import type { StatusItem } from '../../whatsapp/incoming-status.ts'
import { answerHandshake, isSignedByNetwork } from '../../whatsapp/signature.ts'
import { applyTemplateChange, noteChange } from '../connections/connections.ts'
import { keepInbound } from './inbound.ts'
import { Routes } from './routes.ts'
import { keepStatuses, toReport } from './statuses.ts'

/** What the ingress knows of an app: enough to tell the network from anybody else. */
export interface AppSecrets {
  appSecret: string
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
}

export interface Ingress {
  /** The challenge to echo in the network's handshake; null if whoever asks is not the network. */
  greet(appId: string, queryString: string): Promise<string | null>
  /** Resolves once all that a webhook tells is committed. */
  receive(appId: string, body: Buffer, signature: string | string[] | undefined): Promise<void>
}

/**
 * Network → us. The signature is checked over the bytes as they came; then everything in them is read, and all that
 * concurrent webhooks tell is kept in one transaction: messages, statuses, events and their deliveries. What is not ours
 * is noted and answered like the rest, for the network would otherwise repeat the whole batch for days.
 */
export function newIngress(deps: ReceiveDeps): Ingress {
  const routes = new Routes(deps.db)
  const keep = batched((webhooks: Webhook[]) => keepEach({ ...deps, routes }, webhooks), {
    maxItems: 200,
    maxUnderWay: 2,
  })
  return {
    async greet(appId, queryString) {
      const app = await deps.openApp(appId)
      return answerHandshake(queryString, app?.verifyToken ?? '')
    },
    async receive(appId, body, signature) {
      const app = await deps.openApp(appId)
      if (!app || !isSignedByNetwork(body, signature, app.appSecret)) {
        refuse('invalid_key', { message: 'The signature is missing or is not this app’s.' })
      }
      const { revision } = app
      const outcome = await keep({ appId, revision, items: readWebhook(parse(body), deps.clock.now()) })
      if (outcome.kind === 'failed') throw outcome.error
    },
  }
}

interface Webhook {
  appId: string
  revision: number
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
async function keepEach(deps: KeepDeps, webhooks: readonly Webhook[]): Promise<Outcome[]> {
  try {
    await keepAll(deps, webhooks)
    return webhooks.map(() => ({ kind: 'kept' }))
  } catch (error) {
    if (webhooks.length === 1) return [{ kind: 'failed', error }]
    const outcomes: Outcome[] = []
    for (const webhook of webhooks) outcomes.push(...(await keepEach(deps, [webhook])))
    return outcomes
  }
}

async function keepAll({ db, clock, log, routes }: KeepDeps, webhooks: readonly Webhook[]): Promise<void> {
  const now = clock.now()
  const items = webhooks.flatMap(({ appId, items: own }) => own.map((item) => ({ appId, item })))
  const addressed = items.filter(
    (each): each is Addressed => each.item.kind === 'message' || each.item.kind === 'status',
  )
  const destinations = await routes.find(
    addressed.map(({ appId, item: { phoneNumberId } }) => ({ appId, phoneNumberId })),
    Math.max(...webhooks.map(({ revision }) => revision)),
  )
  const placed = addressed.flatMap(({ appId, item }, index) => {
    const destination = destinations[index]
    if (!destination) log.info({ appId, phoneNumberId: item.phoneNumberId, kind: item.kind }, 'not one of our numbers')
    return destination ? [{ item, destination }] : []
  })
  if (placed.length > 0) {
    await db.transaction(async (tx) => {
      await keepInbound(
        tx,
        now,
        placed.flatMap(({ item, destination }) => (item.kind === 'message' ? [{ item, destination }] : [])),
      )
      await keepStatuses(
        tx,
        now,
        placed.flatMap(({ item, destination }) => (item.kind === 'status' ? [toReport(item, destination)] : [])),
      )
    })
  }
  for (const { appId, item } of items) await takeNote(db, log, clock, appId, item)
}

interface Addressed {
  appId: string
  item: InboundItem | StatusItem
}

/** What leads to no event. */
async function takeNote(db: Db, log: Logger, clock: Clock, appId: string, item: Incoming): Promise<void> {
  switch (item.kind) {
    case 'template':
      await applyTemplateChange(db, clock, appId, item)
      return
    case 'notice':
      if (item.about === 'number') await noteChange(db, clock, appId, item.wabaId)
      log.info({ appId, wabaId: item.wabaId, field: item.field, event: item.event }, 'the network gave notice')
      return
    case 'problem':
      log.warn({ appId, phoneNumberId: item.phoneNumberId, problem: item.error.code }, 'the network reports a problem')
      return
    case 'ignored':
      log.info({ appId, reason: item.reason, what: item.what, phoneNumberId: item.phoneNumberId }, 'ignored')
  }
}
