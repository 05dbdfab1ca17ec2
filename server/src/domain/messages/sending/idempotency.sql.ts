import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'

export interface IdempotencyRow {
  workspaceId: string
  keyId: string
  idempotencyKey: string
  fingerprint: Buffer
  answer: string
}

const insertion = statement(
  {
    kept: { workspaceId: 'uuid', keyId: 'uuid', idempotencyKey: 'text', fingerprint: 'bytea', answer: 'text' },
    now: 'timestamptz',
  },
  ({ kept, now }) => `insert into idempotency_keys (${kept.columns}, created_at)
     select kept.*, ${now} from ${kept} on conflict do nothing`,
)

/**
 * Keeps the answer under its key. Waits for a transaction that is just keeping one under the same key; 0: there is one.
 */
export const insertStoredResponse = (db: Db, row: IdempotencyRow, now: Date): Promise<number> =>
  insertion.change(db, { kept: [row], now })

export const storedResponse = (
  db: Db,
  workspaceId: string,
  keyId: string,
  idempotencyKey: string,
): Promise<{ fingerprint: Buffer; answer: string } | undefined> =>
  db.first(
    `select fingerprint, answer from idempotency_keys
     where workspace_id = $1 and key_id = $2 and idempotency_key = $3`,
    [workspaceId, keyId, idempotencyKey],
  )

/** For this transaction: how long to wait for somebody else's lock. */
export const limitWait = (db: Db, ms: number): Promise<unknown> =>
  db.first(`select set_config('lock_timeout', $1, true)`, [String(ms)])

/** Counts one more row of the day; undefined: the day has had its fill. */
export const countRow = (db: Db, workspaceId: string, now: Date, most: number): Promise<{ used: number } | undefined> =>
  db.first(
    `insert into idempotency_days as d (workspace_id, day, used) values ($1, ($2::timestamptz at time zone 'UTC')::date, 1)
     on conflict (workspace_id, day) do update set used = d.used + 1 where d.used < $3 returning used`,
    [workspaceId, now, most],
  )

export const deleteResponsesBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from idempotency_keys where created_at < $1', [before])

export const deleteDaysBefore = (db: Db, before: Date): Promise<number> =>
  db.change(`delete from idempotency_days where day < ($1::timestamptz at time zone 'UTC')::date`, [before])
