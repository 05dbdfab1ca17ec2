import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'

export interface IdempotencyRow {
  workspaceId: string
  systemId: string
  idempotencyKey: string
  fingerprint: Buffer
  answer: string
}

const insertion = statement(
  {
    // `key_id` is the first key of the calling system.
    stored: { workspaceId: 'uuid', keyId: 'uuid', idempotencyKey: 'text', fingerprint: 'bytea', answer: 'text' },
    now: 'timestamptz',
  },
  ({ stored, now }) => `insert into idempotency_keys (${stored.columns}, created_at)
     select stored.*, ${now} from ${stored} on conflict do nothing`,
)

/**
 * Stores the response under its key. Waits for a concurrent transaction with the same key. Returns 0 if the key is taken.
 */
export const insertStoredResponse = (db: Db, row: IdempotencyRow, now: Date): Promise<number> =>
  insertion.change(db, { stored: [{ ...row, keyId: row.systemId }], now })

export const storedResponse = (
  db: Db,
  workspaceId: string,
  systemId: string,
  idempotencyKey: string,
): Promise<{ fingerprint: Buffer; answer: string } | undefined> =>
  db.first(
    `select fingerprint, answer from idempotency_keys
     where workspace_id = $1 and key_id = $2 and idempotency_key = $3`,
    [workspaceId, systemId, idempotencyKey],
  )

/** Sets how long this transaction waits for a lock. */
export const setLockTimeout = (db: Db, ms: number): Promise<unknown> =>
  db.first(`select set_config('lock_timeout', $1, true)`, [String(ms)])

/** Counts one more key for the day. Undefined if the day's limit is reached. */
export const countKey = (db: Db, workspaceId: string, now: Date, max: number): Promise<{ used: number } | undefined> =>
  db.first(
    `insert into idempotency_days as d (workspace_id, day, used) values ($1, ($2::timestamptz at time zone 'UTC')::date, 1)
     on conflict (workspace_id, day) do update set used = d.used + 1 where d.used < $3 returning used`,
    [workspaceId, now, max],
  )

/** Deletes the oldest responses that were stored before a time, at most `limit`. */
export const deleteResponsesBefore = (db: Db, before: Date, limit: number): Promise<number> =>
  db.change(
    `delete from idempotency_keys where ctid = any(array(
       select ctid from idempotency_keys where created_at < $1 order by created_at limit $2 for update skip locked))`,
    [before, limit],
  )

export const deleteCountsBefore = (db: Db, before: Date): Promise<number> =>
  db.change(`delete from idempotency_days where day < ($1::timestamptz at time zone 'UTC')::date`, [before])
