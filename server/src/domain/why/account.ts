/** The way of webhooks from a number to the endpoints, and whether the number can send. */
import { can, type Role } from '@parley/contract/console/permissions'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatTime } from '../../lib/format.ts'
import { explainError } from '../../whatsapp/graph/explain-error.ts'
import type { inspectConnection } from '../connections/configure/inspect.ts'
import type { Connection } from '../connections/connections.ts'
import type { Network } from '../connections/network.ts'
import { readBalance } from '../credits/credits.ts'
import { readOpenCounts } from '../deliveries/reading/statistics.ts'
import { checkParked, checkSignatures, checkSync, checkUpdates } from '../health/accounts.ts'
import { accountStations } from '../health/check-accounts.ts'
import { count } from '../health/finding.ts'
import { dubious, fine, type Station, stationOf, waiting, wrong } from '../health/station.ts'
import { countStatuses, lastInboundAt } from '../messages/reading/last-webhooks.ts'
import { activeHolds } from '../messages/sending/outbox.ts'
import { type LocatedSender, sendersOfApp } from '../senders/senders.ts'
import { webhooksOf } from '../webhooks/webhooks.ts'
import { endpointStations } from './events.ts'

export interface WhyDeps {
  /** Limited to the workspace. */
  db: Db
  clock: Clock
  role: Role
  network: Network
  publicUrl: string
  /** Null: Meta may not be asked. */
  inspect: typeof inspectConnection | null
}

/** `sender` is null for the account without a number. */
export async function walkAccount(
  deps: WhyDeps,
  workspaceId: string,
  connection: Connection,
  sender: LocatedSender | null,
): Promise<Station[]> {
  const { db, clock, network } = deps
  const { id: connectionId, appId } = connection
  const fix = { kind: 'sync', connectionId } as const
  const inspection = deps.inspect?.(network, connectionId)
  // Reading the subscription needs the app secret.
  const isSecretRight = (await inspection?.catch(() => null))?.subscription.kind === 'ok'
  return [
    accountStation(connection),
    ...(sender ? numberStations(sender) : []),
    ...(inspection
      ? await accountStations(network, deps.publicUrl, connection, sender?.phone_number_id ?? null, inspection)
      : []),
    stationOf(await checkSync(db, connectionId), { fix }),
    ...(sender ? await webhookStations(deps, workspaceId, sender) : []),
    stationOf(await checkSignatures(network.db, clock, { appId, isSecretRight }), { isAdvice: isSecretRight }),
    stationOf(await checkParked(db, clock, { connectionId, phoneNumberId: sender?.phone_number_id }), { fix }),
    stationOf(await checkUpdates(db, clock), { isAdvice: true }),
    ...(await sendingStations(deps, workspaceId, connection, sender)),
    ...(await receivers(deps, workspaceId, 'message.received', sender?.id ?? null)),
  ]
}

function accountStation({ id, wabaId, appId, status, statusReason }: Connection): Station {
  const details = [`connection ${id}, app ${appId}`]
  if (status === 'ACTIVE') return fine('account', `Account ${wabaId} is connected to the workspace.`, { details })
  const text = `Meta reports account ${wabaId} as ${status}. ${statusReason ?? ''}`.trim()
  return wrong('account', text, { details, remedy: 'Open the account in Meta’s Business settings: Account quality.' })
}

function numberStations({ phone_number: number, status, status_reason: reason }: LocatedSender): Station[] {
  if (status !== 'DELETED') {
    return [
      fine('sender', `The number ${number} belongs to it, with the status ${status}.${reason ? ` ${reason}` : ''}`),
    ]
  }
  const remedy = 'Add the number to the account in Meta’s WhatsApp Manager, then sync the account.'
  return [wrong('sender', `The account no longer has the number ${number}.`, { remedy })]
}

/** Of one or two messages, the network may have lost the status. */
const silentFrom = 3

async function webhookStations(
  { db, clock, network }: WhyDeps,
  workspaceId: string,
  { id, app_id: appId }: LocatedSender,
): Promise<Station[]> {
  const at = await lastInboundAt(db, [id])
  const ofApp = await lastInboundAt(
    network.db,
    (await sendersOfApp(network.db, appId)).map(({ id }) => id),
  )
  const { accepted, withoutStatus, lastStatusAt } = await countStatuses(db, workspaceId, id, clock.now())
  const last = at
    ? fine('last webhook', 'The last message to this number arrived.', { at })
    : waiting('last webhook', 'No message to this number has arrived yet.')
  const app = ofApp
    ? // Other workspaces may use the app, so the time is for operators.
      fine('app', 'Messages have arrived through this app.', { details: [`last at ${formatTime(ofApp)}`] })
    : waiting('app', 'No message has arrived through this app yet.')
  const stations = [last, app]
  if (accepted === 0) return stations
  if (withoutStatus < Math.min(accepted, silentFrom)) {
    return [...stations, fine('statuses', 'Statuses of sent messages arrive.', { at: lastStatusAt })]
  }
  const text = `${count(withoutStatus, 'message')} sent from this number got no status. WhatsApp’s webhooks do not arrive.`
  return [
    ...stations,
    dubious('statuses', text, { remedy: 'Check the callback URL and the webhook fields of the app.' }),
  ]
}

/** The holds of the sender, its connection and its app. The longest one is last. */
export async function holdsOf({ db, clock }: WhyDeps, ids: readonly string[]) {
  return (await activeHolds(db, clock.now())).filter(({ id }) => ids.includes(id))
}

async function sendingStations(
  deps: WhyDeps,
  workspaceId: string,
  { id, appId }: Connection,
  sender: LocatedSender | null,
): Promise<Station[]> {
  const hold = (await holdsOf(deps, [id, appId, sender?.id ?? ''])).at(-1)
  const stations: Station[] = []
  if (hold) {
    const { cause, fix } = explainError(hold)
    stations.push(dubious('sending', `Sending is on hold until ${formatTime(hold.until)}. ${cause}`, { remedy: fix }))
  }
  if (can(deps.role, 'credits:read') && (await readBalance(deps.db, workspaceId)) <= 0) {
    stations.push(
      wrong('credits', 'No credits left. Requests that send messages fail with insufficient_credits.', {
        remedy: `Add credits: ./parley workspace credit ${workspaceId} AMOUNT --note T`,
        consoleRemedy: 'Ask the operator to add credits.',
      }),
    )
  }
  return stations
}

/** The endpoints of the workspace except those that got the event, as far as the role may see them. */
export async function receivers(
  { db, role }: WhyDeps,
  workspaceId: string,
  type: string,
  senderId: string | null,
  got: ReadonlySet<string> = new Set(),
): Promise<Station[]> {
  if (!can(role, 'webhooks:read')) return []
  const endpoints = (await webhooksOf(db, workspaceId)).filter(({ id }) => !got.has(id))
  const ids = endpoints.map(({ id }) => id)
  const open = await readOpenCounts(db, workspaceId, ids, openMax)
  const openOf = (id: string) => (open.get(id)?.held ?? 0) + (open.get(id)?.waiting ?? 0)
  return endpointStations(type, senderId, { endpoints, openOf, isHeard: got.size > 0 })
}

const openMax = 10_000
