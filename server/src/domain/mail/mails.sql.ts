import type { Db } from '../../db/db.ts'
import { insertion } from '../../db/statement.ts'

export interface MailRow {
  id: string
  kind: string
  recipient: string
  workspaceId: string | null
  data: object
  secretSealed: string | null
  createdAt: Date
  expiresAt: Date
  attempts: number
}

export const insertMail = insertion('mails', {
  id: 'uuid',
  kind: 'text',
  recipient: 'text',
  workspaceId: 'uuid',
  data: 'json',
  secretSealed: 'text',
  createdAt: 'timestamptz',
  dueAt: 'timestamptz',
  expiresAt: 'timestamptz',
})

/** Counts an email. False if there are `max` of this subject and kind in this hour already. */
export const countMail = async (
  db: Db,
  { subject, kind, hour, max }: { subject: Buffer; kind: string; hour: Date; max: number },
): Promise<boolean> =>
  (await db.change(
    `insert into mail_counts as c (subject, kind, hour, count) values ($1, $2, $3, 1)
     on conflict (subject, kind, hour) do update set count = c.count + 1 where c.count < $4`,
    [subject, kind, hour, max],
  )) === 1

export const deleteCountsBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from mail_counts where hour < $1', [before])

/** Leases up to `limit` emails of these kinds that are due. If the process dies, they are due again when the lease ends. */
export const claimMails = (db: Db, kinds: readonly string[], now: Date, leaseUntil: Date, limit: number) =>
  db.rows<MailRow>(
    `with due as materialized (
       select id from mails where due_at <= $1 and kind = any($4::text[]) order by due_at limit $3
       for update skip locked
     )
     update mails m set due_at = $2, attempts = m.attempts + 1 from due where m.id = due.id
     returning m.id, m.kind, m.recipient, m.workspace_id as "workspaceId", m.data, m.secret_sealed as "secretSealed",
       m.created_at as "createdAt", m.expires_at as "expiresAt", m.attempts`,
    [now, leaseUntil, limit, kinds],
  )

export const setMailSecret = (db: Db, id: string, sealed: string): Promise<number> =>
  db.change('update mails set secret_sealed = $2 where id = $1', [id, sealed])

export const deleteExpiredMails = (db: Db, before: Date): Promise<number> =>
  db.change('delete from mails where expires_at < $1', [before])

export const deleteMail = (db: Db, id: string): Promise<number> => db.change('delete from mails where id = $1', [id])

export const postponeMail = (db: Db, id: string, dueAt: Date, error: string): Promise<number> =>
  db.change('update mails set due_at = $2, error = $3 where id = $1', [id, dueAt, error])

/** How many emails wait, the oldest of them, and the error of the last attempt. */
export const readMailQueue = (db: Db) =>
  db.first<{ waiting: number; oldestAt: Date | null; error: string | null }>(
    `select count(*)::int as waiting, min(created_at) as "oldestAt",
       (select error from mails where error is not null order by due_at desc limit 1) as error from mails`,
  )
