import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'

/** A response as it was stored. */
export interface StoredResponse {
  fingerprint: Buffer
  answer: string
}

/** Replaces the key of an erased contact. A repeated request is found by it. No client can send it: it has a space. */
export const erasedKey = (key: string): string => `'erased ' || encode(sha256(convert_to(${key}, 'UTF8')), 'hex')`

/** The responses that are stored under these keys, by the index of the key. */
export const storedResponses = statement(
  { wanted: { index: 'int', workspaceId: 'uuid', systemId: 'uuid', idempotencyKey: 'text' } },
  // `offset 0` makes PostgreSQL look up each key, even if it planned the statement while there were few.
  ({ wanted }) => `select wanted.index, i.fingerprint, i.answer from ${wanted} cross join lateral (
       select fingerprint, answer from idempotency_keys i
       where (i.workspace_id, i.key_id) = (wanted.workspace_id, wanted.system_id)
         and i.idempotency_key in (wanted.idempotency_key, ${erasedKey('wanted.idempotency_key')}) offset 0) as i`,
).rows<StoredResponse & { index: number }>

/** Deletes the oldest responses that were stored before a time, at most `limit`. */
export const deleteResponsesBefore = (db: Db, before: Date, limit: number): Promise<number> =>
  db.change(
    `delete from idempotency_keys where ctid = any(array(
       select ctid from idempotency_keys where created_at < $1 order by created_at limit $2 for update skip locked))`,
    [before, limit],
  )

export const deleteCountsBefore = (db: Db, before: Date): Promise<number> =>
  db.change(`delete from idempotency_days where day < ($1::timestamptz at time zone 'UTC')::date`, [before])
