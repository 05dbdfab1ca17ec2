/** Updates for numbers that are not known. Those of a connected account are parked, the others are dropped; both are logged. */
import type { Db } from '../../../db/db.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { splitWebhook } from '../../../whatsapp/incoming/incoming.ts'
import type { ParkOutcome, UnknownUpdate } from '../../connections/parked.ts'
import { countDroppedUpdates } from '../../connections/unknown-numbers.ts'
import type { UpdateItem } from './record-updates.ts'

/** An update for a number that is not known. */
export interface UnknownItem {
  appId: string
  item: UpdateItem
}

export type ParkedUpdate = UnknownUpdate & { outcome: ParkOutcome }

/** The changes that contain updates for unknown numbers. */
export function updatesFor(
  unknown: readonly UnknownItem[],
  webhooks: readonly { appId: string; body: Buffer }[],
): UnknownUpdate[] {
  const keys = new Set(unknown.map(({ appId, item }) => numberKeyOf({ ...item, appId })))
  return webhooks.flatMap(({ appId, body }) =>
    splitWebhook(JSON.parse(body.toString('utf8'))).flatMap((change) =>
      keys.has(numberKeyOf({ ...change, appId })) ? [{ ...change, appId }] : [],
    ),
  )
}

/** Logs what happened to these updates, and counts those that were dropped. */
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
  for (const { appId, item } of unknown) {
    const { phoneNumberId, wabaId } = item
    if (wabaId === null)
      log.info(
        { event: 'update.dropped', app_id: appId, phone_number_id: phoneNumberId },
        'update dropped: it names no account',
      )
  }
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

/** How many updates were dropped for each number of an account that is not connected. */
function droppedByNumber(unknown: readonly UnknownItem[], updates: readonly ParkedUpdate[]) {
  const counts = Map.groupBy(unknown, ({ appId, item }) => numberKeyOf({ ...item, appId }))
  const dropped = updates.filter(({ outcome }) => outcome === 'not_connected')
  return [...Map.groupBy(dropped, numberKeyOf)].flatMap(([key, [update]]) => {
    if (!update) return []
    const { appId, wabaId, phoneNumberId } = update
    return [{ appId, wabaId, phoneNumberId, updates: counts.get(key)?.length ?? 0 }]
  })
}

/** Logs one line per number and batch. */
function logUnknown(log: Logger, updates: readonly ParkedUpdate[]): void {
  for (const group of Map.groupBy(updates, numberKeyOf).values()) {
    const count = (kind: ParkOutcome) => group.filter(({ outcome }) => outcome === kind).length
    const { appId, wabaId, phoneNumberId } = group[0] as UnknownUpdate
    const fields = { app_id: appId, waba_id: wabaId, phone_number_id: phoneNumberId }
    if (count('not_connected') > 0) {
      const dropped = { event: 'update.dropped', ...fields, updates: group.length } as const
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
