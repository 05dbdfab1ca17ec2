/**
 * Changes of webhooks that are not, or not only, stored as messages and statuses:
 *
 *   its number is unknown, its account is connected → parked until a sync has found the number
 *   it was not read completely                      → stored as a network update of its workspace
 *   its account is not connected                    → stored as a network update that only operators see
 */
import type { Db } from '../../../db/db.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Incoming } from '../../../whatsapp/incoming/incoming.ts'
import { type SplitChange, splitWebhook } from '../../../whatsapp/incoming/split-webhook.ts'
import type { UnreadChange } from '../../../whatsapp/incoming/unread.ts'
import { accountKey, workspacesOfAccounts } from '../../connections/connections.ts'
import { type ParkOutcome, parkUpdates, type UnknownUpdate } from '../../connections/parked.ts'
import { countDroppedUpdates } from '../../connections/unknown-numbers.ts'
import type { Destination } from '../../senders/senders.ts'
import { storeUpdates } from '../../updates/updates.ts'
import type { NumberRoutes } from './number-routes.ts'
import type { UpdateItem } from './record-updates.ts'

/** An update for a number that is not known. */
export interface UnknownItem {
  appId: string
  item: UpdateItem
}

interface OtherChange extends SplitChange {
  appId: string
  /** Null if it names no number, or an unknown one. */
  destination: Destination | null
  unread: UnreadChange | undefined
}

/** The changes of these webhooks for which saving their updates is not enough. */
export async function otherChanges(
  routes: NumberRoutes,
  revision: number,
  webhooks: readonly { appId: string; body: Buffer; items: readonly Incoming[] }[],
): Promise<OtherChange[]> {
  const changes = webhooks.flatMap(({ appId, body, items }) => {
    const unread = new Map(items.flatMap((item) => (item.kind === 'unread' ? [[placeOf(item), item]] : [])))
    return splitWebhook(body.toString('utf8')).map((each) => ({ ...each, appId, unread: unread.get(placeOf(each)) }))
  })
  const numbered = changes.flatMap(({ appId, phoneNumberId }) =>
    phoneNumberId === null ? [] : [{ appId, phoneNumberId }],
  )
  const { destinations } = await routes.find(numbered, revision)
  let next = 0
  return changes
    .map((change) => ({
      ...change,
      destination: change.phoneNumberId === null ? null : (destinations[next++] ?? null),
    }))
    .filter(({ unread, destination }) => unread !== undefined || destination === null)
}

const placeOf = ({ entry, change }: Pick<SplitChange, 'entry' | 'change'>): string => `${entry} ${change}`

/** Stores them in the transaction of the rest of their webhooks, before the rest. Returns those of unknown numbers. */
export async function saveOtherChanges(tx: Db, now: Date, changes: readonly OtherChange[]): Promise<ParkedUpdate[]> {
  const unknown = changes.filter(isOfUnknownNumber)
  const outcomes = await parkUpdates(tx, now, unknown)
  const workspaces = await workspacesOfAccounts(tx, changes.filter(isWithoutNumber))
  const parked = new Set<OtherChange>(unknown.filter((_, index) => outcomes[index] !== 'not_connected'))
  await storeUpdates(
    tx,
    now,
    changes.flatMap((change) => {
      const { destination, unread, appId, phoneNumberId, webhook } = change
      const workspaceId = destination?.workspaceId ?? workspaces.get(accountKey(change)) ?? null
      if (parked.has(change) || (unread === undefined && workspaceId !== null)) return []
      const outcome = phoneNumberId === null ? ('notice' as const) : ('not_understood' as const)
      const { field, outcome: read, paths } = unread ?? { field: change.field ?? 'unknown', outcome, paths: [] }
      return [{ appId, workspaceId, senderId: destination?.senderId ?? null, field, outcome: read, paths, webhook }]
    }),
  )
  return unknown.map((change, index) => ({ ...change, outcome: outcomes[index] ?? 'not_connected' }))
}

const isOfUnknownNumber = (change: OtherChange): change is OtherChange & UnknownUpdate =>
  change.phoneNumberId !== null && change.wabaId !== null && change.destination === null

const isWithoutNumber = (change: OtherChange): change is OtherChange & { wabaId: string } =>
  change.phoneNumberId === null && change.wabaId !== null

export type ParkedUpdate = UnknownUpdate & { outcome: ParkOutcome }

/** Logs what happened to these updates, and counts those of accounts that are not connected. */
export async function recordParked(
  { db, log, now }: { db: Db; log: Logger; now: Date },
  unknown: readonly UnknownItem[],
  parked: readonly ParkedUpdate[],
): Promise<void> {
  logUnknown(log, parked)
  await countDroppedUpdates(db, now, droppedByNumber(unknown, parked))
}

/** Logs updates that cannot be parked, because they do not say which account they belong to. */
export function logWithoutAccount(log: Logger, unknown: readonly UnknownItem[]): void {
  for (const { appId, item } of unknown.filter((each) => each.item.wabaId === null)) {
    const fields = { event: 'update.not_connected', app_id: appId, phone_number_id: item.phoneNumberId } as const
    log.info(fields, 'update of no account: stored for operators only')
  }
}

type NumberOfAccount = Pick<UnknownUpdate, 'appId' | 'phoneNumberId'> & { wabaId: string | null }

const numberKeyOf = ({ appId, wabaId, phoneNumberId }: NumberOfAccount) => `${appId} ${wabaId} ${phoneNumberId}`

/** How many updates were dropped for each number of an account that is not connected. */
function droppedByNumber(unknown: readonly UnknownItem[], updates: readonly ParkedUpdate[]) {
  const counts = Map.groupBy(unknown, ({ appId, item }) => numberKeyOf({ ...item, appId }))
  const dropped = updates.filter(({ outcome }) => outcome === 'not_connected')
  return [...Map.groupBy(dropped, numberKeyOf)].flatMap(([key, [update]]) => {
    if (!update) return []
    const { appId, wabaId, phoneNumberId } = update
    return [{ appId, wabaId, phoneNumberId, updates: counts.get(key)?.length ?? 1 }]
  })
}

/** Logs one line per number and batch. */
function logUnknown(log: Logger, updates: readonly ParkedUpdate[]): void {
  for (const group of Map.groupBy(updates, numberKeyOf).values()) {
    const count = (kind: ParkOutcome) => group.filter(({ outcome }) => outcome === kind).length
    const { appId, wabaId, phoneNumberId } = group[0] as UnknownUpdate
    const fields = { app_id: appId, waba_id: wabaId, phone_number_id: phoneNumberId }
    if (count('not_connected') > 0) {
      const dropped = { event: 'update.not_connected', ...fields, updates: group.length } as const
      log.info(dropped, 'update of an account that is not connected through this app: stored for operators only')
    } else {
      const counts = { updates: count('parked'), repeated: count('repeated') }
      log.info({ event: 'update.parked', ...fields, ...counts }, 'update parked: its number is not synced yet')
    }
  }
}
