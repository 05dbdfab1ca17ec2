import type { Db } from '../../db/db.ts'
import { expiringTokens } from '../connections/connections.ts'
import { expiringKeys } from '../keys/keys.ts'
import { announceExpiries, deleteAnnouncedBefore } from '../mail/notifications.ts'
import { deleteCountsBefore, deleteExpiredMails } from '../mail/outbox.ts'

const dayMs = 24 * 3_600_000

/** Adds a notification for each key and each access token that is about to expire, once for each expiry. */
export async function noticeExpiries(db: Db, now: Date): Promise<number> {
  const keys = await expiringKeys(db, null, now)
  const tokens = await expiringTokens(db, null, now)
  return db.transaction((tx) =>
    announceExpiries(tx, [
      ...keys.map(({ id, workspaceId, name, expiresAt }) => ({
        subjectId: id,
        workspaceId,
        expiresAt,
        notification: {
          workspaceId,
          kind: 'key_expiring' as const,
          data: { key_id: id, name, expires_at: expiresAt.toISOString() },
        },
      })),
      ...tokens.map(({ id, workspaceId, wabaId, expiresAt }) => ({
        subjectId: id,
        workspaceId,
        expiresAt,
        notification: {
          workspaceId,
          kind: 'token_expiring' as const,
          data: { connection_id: id, waba_id: wabaId, expires_at: expiresAt.toISOString() },
        },
      })),
    ]),
  )
}

/** Deletes past expiries, and counts of past hours. */
export async function deleteOldMailData(db: Db, now: Date): Promise<void> {
  const yesterday = new Date(now.getTime() - dayMs)
  await deleteAnnouncedBefore(db, yesterday)
  await deleteCountsBefore(db, yesterday)
  // Expiries that had no mail server in time.
  await deleteExpiredMails(db, yesterday)
}
