import type { Db } from '../../../db/db.ts'
import { insertion } from '../../../db/statement.ts'

export interface OpenSession {
  id: string
  personId: string
  email: string
  name: string
  operator: boolean
  hasPassword: boolean
  twoFactor: boolean
  hasPasskey: boolean
  createdAt: Date
  lastSeenAt: Date
  confirmedAt: Date
  /** An operator, or an admin of any workspace. Their sessions have a shorter idle timeout. */
  privileged: boolean
}

export const insertSession = insertion('sessions', {
  id: 'uuid',
  person_id: 'uuid',
  token_digest: 'bytea',
  created_at: 'timestamptz',
  last_seen_at: 'timestamptz',
  confirmed_at: 'timestamptz',
  address: 'text',
  user_agent: 'text',
})

export const sessionByDigest = (db: Db, digest: Buffer): Promise<OpenSession | undefined> =>
  db.first(
    `select s.id, s.person_id as "personId", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
       s.confirmed_at as "confirmedAt", p.email, p.name, p.operator, p.password_hash is not null as "hasPassword",
       p.totp_confirmed_at is not null as "twoFactor",
       exists (select from passkeys k where k.person_id = p.id) as "hasPasskey",
       p.operator or exists (select from memberships m where m.person_id = p.id and m.role = 'admin') as privileged
     from sessions s join people p on p.id = s.person_id where s.token_digest = $1
       and p.disabled_at is null`,
    [digest],
  )

export const hasSession = async (db: Db, personId: string, id: string): Promise<boolean> =>
  (await db.first('select 1 as one from sessions where person_id = $1 and id = $2', [personId, id])) !== undefined

export const touchSession = (db: Db, id: string, at: Date): Promise<number> =>
  db.change('update sessions set last_seen_at = $2 where id = $1', [id, at])

export const confirmSession = (db: Db, id: string, at: Date): Promise<number> =>
  db.change('update sessions set confirmed_at = $2 where id = $1', [id, at])

export const listSessions = (db: Db, personId: string) =>
  db.rows<{ id: string; created_at: Date; last_seen_at: Date; address: string | null; user_agent: string | null }>(
    `select id, created_at, last_seen_at, address, user_agent from sessions where person_id = $1
     order by last_seen_at desc, id`,
    [personId],
  )

export const deleteSession = (db: Db, personId: string, id: string): Promise<number> =>
  db.change('delete from sessions where person_id = $1 and id = $2', [personId, id])

export const deleteSessions = (db: Db, personId: string, keep: string | null): Promise<number> =>
  db.change('delete from sessions where person_id = $1 and id is distinct from $2::uuid', [personId, keep])

export const deleteOldSessions = (db: Db, createdBefore: Date, seenBefore: Date): Promise<number> =>
  db.change('delete from sessions where created_at < $1 or last_seen_at < $2', [createdBefore, seenBefore])
