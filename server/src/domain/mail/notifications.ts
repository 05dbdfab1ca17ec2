/**
 * Notifications of users and endpoints. A notification is added in the transaction of the change, so it exists exactly
 * once, whatever happens to the process. Triggers add `credits_low` and `webhook_failing`: balances and failures are
 * changed by statements that must stay fast.
 */
import type { NotificationKind } from '@parley/contract/console/notifications'
import type { Db } from '../../db/db.ts'
import type { MailData } from './mail-kinds.ts'
import {
  deleteAnnouncedBefore,
  type Expiry,
  insertAnnounced,
  insertNotifications,
  saveTimes,
  takeNotifications,
  timesOf,
} from './notifications.sql.ts'

export { deleteAnnouncedBefore, type Expiry, takeNotifications, timesOf }

type DataOf<Kind extends NotificationKind> = Omit<MailData[Kind], 'workspace' | 'workspace_id'>

export type Notification = {
  [Kind in NotificationKind]: { workspaceId: string; kind: Kind; data: DataOf<Kind> }
}[NotificationKind]

/** Stores when these kinds last happened. Call it in the transaction that passes them on. */
export async function saveNotificationTimes(
  db: Db,
  notifications: readonly (Notification & { createdAt: Date })[],
): Promise<void> {
  if (notifications.length === 0) return
  const times = notifications.map((each) => ({ ...each, lastAt: each.createdAt, subject: subjectOf(each) }))
  await saveTimes(db, { times })
}

function subjectOf({ kind, data }: Notification): string {
  switch (kind) {
    case 'credits_low':
      return `${data.balance} left`
    case 'token_expiring':
      return `Account ${data.waba_id}`
    default:
      return data.name
  }
}

/** Call it in the transaction of the change. */
export const addNotification = (db: Db, notification: Notification): Promise<unknown> =>
  insertNotifications(db, { added: [notification] })

/** Adds the notifications of expiries that were not announced before. Call it in a transaction. */
export async function announceExpiries(
  db: Db,
  expiries: readonly (Expiry & { notification: Notification })[],
): Promise<number> {
  if (expiries.length === 0) return 0
  const added = new Set((await insertAnnounced(db, { announced: expiries })).map(({ subjectId }) => subjectId))
  const notifications = expiries.filter(({ subjectId }) => added.has(subjectId)).map(({ notification }) => notification)
  if (notifications.length > 0) await insertNotifications(db, { added: notifications })
  return notifications.length
}
