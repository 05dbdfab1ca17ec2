import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface NotificationRow {
  workspaceId: string
  kind: string
  data: object
}

export interface TakenNotification extends NotificationRow {
  createdAt: Date
}

/**
 * Deletes the oldest notifications of these kinds and returns them. Run it in the transaction that passes them on. Another
 * process takes other ones.
 */
export const takeNotifications = (db: Db, kinds: readonly string[], limit: number): Promise<TakenNotification[]> =>
  db.rows(
    `with oldest as materialized (
       select id from notifications where kind = any($2::text[]) order by created_at limit $1 for update skip locked
     ), taken as (
       delete from notifications n using oldest where n.id = oldest.id
       returning n.workspace_id, n.kind, n.data, n.created_at)
     select workspace_id as "workspaceId", kind, data, created_at as "createdAt" from taken order by created_at`,
    [limit, kinds],
  )

export const insertNotifications = statement(
  { added: { workspaceId: 'uuid', kind: 'text', data: 'json' } },
  ({ added }) => `insert into notifications (${added.columns}) select * from ${added}`,
).change

export interface NotificationTime {
  workspaceId: string
  kind: string
  lastAt: Date
  /** The object of the notification. */
  subject: string
}

/** Keeps the latest of each workspace and kind. */
export const saveTimes = statement(
  { times: { workspaceId: 'uuid', kind: 'text', lastAt: 'timestamptz', subject: 'text' } },
  ({ times }) => `insert into notification_times as t (${times.columns})
     select distinct on (workspace_id, kind) * from ${times} order by workspace_id, kind, last_at desc
     on conflict (workspace_id, kind) do update set last_at = excluded.last_at, subject = excluded.subject
       where t.last_at <= excluded.last_at`,
).change

export const timesOf = (db: Db, workspaceId: string): Promise<Omit<NotificationTime, 'workspaceId'>[]> =>
  db.rows('select kind, last_at as "lastAt", subject from notification_times where workspace_id = $1', [workspaceId])

/** When a key or a connection's token expires. */
export interface Expiry {
  subjectId: string
  workspaceId: string
  expiresAt: Date
}

/** Returns the expiries that were not announced before. */
export const insertAnnounced = statement(
  { announced: { subjectId: 'uuid', expiresAt: 'timestamptz', workspaceId: 'uuid' } },
  ({ announced }) => `insert into announced_expiries (${announced.columns})
     select * from ${announced} order by announced.subject_id on conflict do nothing returning subject_id as "subjectId"`,
).rows<{ subjectId: string }>

export const deleteAnnouncedBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from announced_expiries where expires_at < $1', [before])
