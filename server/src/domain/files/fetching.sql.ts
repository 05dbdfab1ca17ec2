import type { FileLoss } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'
import type { FileSource } from '../../whatsapp/incoming/form.ts'

/** A file that only this process may fetch, as long as the row has its lease. */
export interface ClaimedFile {
  id: string
  lease: string
  workspaceId: string
  /** Null for an upload. */
  senderId: string | null
  mimeType: string
  /** The inbound message that it belongs to. Null for a file of a form. */
  messageId: string | null
  /** Null for an upload that a process was receiving when it died. */
  source: FileSource | null
  /** Includes this attempt, so an attempt that crashes the process counts too. */
  attempts: number
  /** Of the attempt before. */
  lastError: string | null
  tryUntil: Date
}

/** Workspaces with due files. The recursive CTE finds them by one index lookup per workspace with unfetched files. */
export const workspacesWithDueFiles = async (db: Db, now: Date): Promise<string[]> => {
  const rows = await db.rows<{ id: string }>(
    `with recursive busy as (
       (select workspace_id from flow_files where state in ('waiting', 'fetching') order by workspace_id limit 1)
       union all
       select (select f.workspace_id from flow_files f
               where f.state in ('waiting', 'fetching') and f.workspace_id > b.workspace_id
               order by f.workspace_id limit 1)
       from busy b where b.workspace_id is not null)
     select b.workspace_id as id from busy b
     where exists (select 1 from flow_files f
       where f.state in ('waiting', 'fetching') and f.workspace_id = b.workspace_id and f.due_at <= $1)`,
    [now],
  )
  return rows.map(({ id }) => id)
}

/** How many files to claim for a workspace. */
export interface FileQuota {
  workspaceId: string
  maxCount: number
}

/** Leases due files, and deletes the chunks of earlier attempts. */
export const claimFiles = statement(
  { quotas: { workspaceId: 'uuid', maxCount: 'int' }, now: 'timestamptz', leaseUntil: 'timestamptz' },
  ({ quotas, now, leaseUntil }) => `with due as (
       select f.id from ${quotas} cross join lateral (
         select f.id from flow_files f
         where f.state in ('waiting', 'fetching') and f.workspace_id = quotas.workspace_id and f.due_at <= ${now}
         order by f.due_at, f.id limit quotas.max_count for update skip locked) f
     ), claimed as (
       update flow_files f set state = 'fetching', lease = gen_random_uuid(), due_at = ${leaseUntil},
         attempts = f.attempts + 1, size = case when f.expires_at is null then null else f.size end
       from due where f.id = due.id
       returning f.id, f.lease, f.workspace_id as "workspaceId", f.sender_id as "senderId", f.mime_type as "mimeType",
         f.message_id as "messageId", f.source, f.attempts, f.last_error as "lastError", f.try_until as "tryUntil"
     ), cleared as (
       delete from file_chunks c using due where c.file_id = due.id
     )
     select * from claimed`,
).rows<ClaimedFile>

export type Leased = Pick<ClaimedFile, 'id' | 'lease'>

/**
 * Writes a chunk if the lease is still ours. Locks the row, so that no other process can claim the file before the
 * chunk is written.
 */
export const insertChunk = (db: Db, { id, lease }: Leased, number: number, bytes: Buffer): Promise<number> =>
  db.change(
    `insert into file_chunks (file_id, lease, number, workspace_id, bytes)
     select id, lease, $3, workspace_id, $4::bytea from flow_files
     where id = $1 and lease = $2 and state = 'fetching' for share`,
    [id, lease, number, bytes],
  )

export const renewLease = (db: Db, { id, lease }: Leased, until: Date): Promise<number> =>
  db.change(`update flow_files set due_at = $3 where id = $1 and lease = $2 and state = 'fetching'`, [id, lease, until])

export interface Fetched {
  size: number
  chunkBytes: number
  contentType: string
  /** In hex; only for uploads, which have to be described. */
  sha256?: string
}

/** Completes the file: its chunks are readable from now on. */
export const recordFetched = (db: Db, { id, lease }: Leased, file: Fetched, now: Date): Promise<number> =>
  db.change(
    `update flow_files set state = 'fetched', content = lease, lease = null, source = null, last_error = null, size = $3,
       chunk_bytes = $4, content_type = $5, sha256 = $6, fetched_at = $7
     where id = $1 and lease = $2 and state = 'fetching'`,
    [id, lease, file.size, file.chunkBytes, file.contentType, file.sha256 ?? null, now],
  )

/** Changes a file that did not become complete, and deletes its chunks. The change has the parameters from $3 on. */
export const endFetch = (db: Db, { id, lease }: Leased, change: string, values: readonly unknown[]): Promise<number> =>
  db.change(
    `with ended as (${change} where id = $1 and lease = $2 and state = 'fetching' returning id)
     delete from file_chunks c using ended where c.file_id = ended.id`,
    [id, lease, ...values],
  )

/** Schedules another attempt. `uncounted` if we aborted this one ourselves. */
export const recordFetchRetry = (db: Db, file: Leased, at: Date, error: string | null, uncounted = false) =>
  endFetch(
    db,
    file,
    `update flow_files set state = 'waiting', lease = null, due_at = $3, last_error = coalesce($4, last_error),
       attempts = attempts - $5::int`,
    [at, error, uncounted ? 1 : 0],
  )

export const recordFileLost = (db: Db, file: Leased, why: FileLoss, error: string | null): Promise<number> =>
  endFetch(
    db,
    file,
    `update flow_files set state = 'gone', lease = null, source = null, why = $3, last_error = coalesce($4, last_error)`,
    [why, error],
  )

/** Deletes an upload that was not completed, as if it had never begun. */
export const deleteUpload = (db: Db, file: Leased): Promise<number> => endFetch(db, file, 'delete from flow_files', [])

/** Deletes the contents of up to `limit` files that were fetched before a time, and returns how many. */
export const deleteFilesBefore = (db: Db, before: Date, limit: number): Promise<number> =>
  deleteContents(db, 'expires_at is null and fetched_at < $1 order by fetched_at', before, limit)

/** The same for uploads that expired before a time. */
export const deleteExpiredBefore = (db: Db, before: Date, limit: number): Promise<number> =>
  deleteContents(db, 'expires_at is not null and expires_at < $1 order by expires_at', before, limit)

/** The name of an upload is removed with its bytes. The name of a received file is removed with the contents of its message. */
const deleteContents = (db: Db, oldestFirst: string, before: Date, limit: number): Promise<number> =>
  db.transaction(async (tx) => {
    const deleted = await tx.rows<{ id: string }>(
      `with old as (
         select id from flow_files where state = 'fetched' and ${oldestFirst} limit $2 for update skip locked
       )
       update flow_files f set state = 'gone', why = 'retention', content = null, object_key = null,
         file_name = case when f.expires_at is null then f.file_name else '' end
       from old where f.id = old.id
       returning f.id`,
      [before, limit],
    )
    await deleteChunks(tx, deleted)
    return deleted.length
  })

/** A separate statement after the lock, so that it sees the chunks that were written before the lock. */
const deleteChunks = async (tx: Db, files: readonly { id: string }[]): Promise<void> => {
  if (files.length === 0) return
  await tx.change('delete from file_chunks where file_id = any($1::uuid[])', [files.map(({ id }) => id)])
}

/** The column with the ID of the message or form of a received file. */
export type FileOwner = 'response_id' | 'message_id'

/**
 * Makes files of these submissions or inbound messages expire now: `deleteFilesBefore` the beginning of time deletes
 * their bytes. Files that are not fetched yet are not fetched any more. Their names, which the person has chosen, are
 * removed. Returns how many there are. Run within a transaction.
 */
export async function expireFilesOf(tx: Db, owner: FileOwner, ids: readonly string[]): Promise<number> {
  const expired = await tx.rows<{ id: string; isFetched: boolean }>(
    `with expired as materialized (
       select id, state from flow_files where ${owner} = any($1::uuid[]) order by id for update
     )
     update flow_files f set file_name = '', source = null, lease = null, last_error = null,
       state = case when e.state = 'fetched' then 'fetched' else 'gone' end,
       why = case when e.state in ('waiting', 'fetching') then 'retention' else f.why end,
       fetched_at = case when e.state = 'fetched' then to_timestamp(0) else f.fetched_at end
     from expired e where f.id = e.id
     returning f.id, e.state = 'fetched' as "isFetched"`,
    [ids],
  )
  await deleteChunks(
    tx,
    expired.filter(({ isFetched }) => !isFetched),
  )
  return expired.length
}
