import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'
import type { Place } from './files.sql.ts'

/** A stored file, and where its bytes are. */
export interface StoredRow extends Place {
  workspace_id: string
  size: number
  /** Of its object, in hex. */
  object_sha256: string | null
  /** As text, because a Date has no microseconds. */
  fetched_at: string
}

type Position = Pick<StoredRow, 'id' | 'fetched_at'>

const columns = `id, workspace_id, content, size, chunk_bytes, object_key, object_sha256, fetched_at::text as fetched_at`

/** A page of the files in the database, the newest first. */
export const filesInDatabase = (db: Db, before: Position | null, limit: number): Promise<StoredRow[]> =>
  db.rows(
    `select ${columns} from flow_files f
     where state = 'fetched' and object_key is null and (f.fetched_at, id) < ($1::timestamptz, $2::uuid)
     order by f.fetched_at desc, id desc limit $3`,
    [before?.fetched_at ?? 'infinity', before?.id ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff', limit],
  )

/** A page of the files in the file store, the oldest first. */
export const filesInObjects = (db: Db, after: Position | null, limit: number): Promise<StoredRow[]> =>
  db.rows(
    `select ${columns} from flow_files f
     where state = 'fetched' and object_key is not null and (f.fetched_at, id) > ($1::timestamptz, $2::uuid)
     order by f.fetched_at, id limit $3`,
    [after?.fetched_at ?? '-infinity', after?.id ?? '00000000-0000-0000-0000-000000000000', limit],
  )

interface Total {
  files: number
  bytes: number
}

export interface StoredTotals {
  database: Total
  s3: Total
  /** Files that are not downloaded yet. */
  waiting: number
  /** Objects that are about to be deleted, or that are being written. */
  unused: number
}

/** Reads the row of every stored file. */
export async function readTotals(db: Db): Promise<StoredTotals> {
  const rows = await db.rows<Total & { in_objects: boolean }>(
    `select object_key is not null as in_objects, count(*)::int as files, sum(size)::float8 as bytes
     from flow_files where state = 'fetched' group by 1`,
  )
  const counts = await db.first<{ waiting: number; unused: number }>(
    `select (select count(*) from flow_files where state in ('waiting', 'fetching'))::int as waiting,
       (select count(*) from unused_objects)::int as unused`,
  )
  const totalOf = (inObjects: boolean): Total => {
    const { files = 0, bytes = 0 } = rows.find(({ in_objects }) => in_objects === inObjects) ?? {}
    return { files, bytes }
  }
  return { database: totalOf(false), s3: totalOf(true), waiting: counts?.waiting ?? 0, unused: counts?.unused ?? 0 }
}

const toObject = statement(
  { id: 'uuid', content: 'uuid', objectKey: 'text', sha256: 'text' },
  ({ id, content, objectKey, sha256 }) => `with noted as (
       select object_key from unused_objects where object_key = ${objectKey} and not is_deleting for update
     ), moved as (
       update flow_files set object_key = ${objectKey}, object_sha256 = ${sha256}
       where id = ${id} and content = ${content} and state = 'fetched' and object_key is null
         and exists (select 1 from noted)
       returning id, object_key
     ), used as (
       delete from unused_objects u using moved m where u.object_key = m.object_key
     ), emptied as (
       delete from file_chunks c using moved m where c.file_id = m.id
     )
     select id from moved`,
)

/** From here on the file is read from the object. False if it was deleted or moved. */
export const switchToObject = async (
  db: Db,
  { id, content }: StoredRow,
  object: { objectKey: string; sha256: string },
): Promise<boolean> => (await toObject.rows(db, { id, content, ...object })).length > 0

/** Writes a chunk of a copy, unless the file was deleted or moved. */
export const insertCopiedChunk = (
  db: Db,
  { id, object_key }: StoredRow,
  chunk: { copy: string; number: number; bytes: Buffer },
): Promise<number> =>
  db.change(
    `insert into file_chunks (file_id, lease, number, workspace_id, bytes)
     select id, $2, $3, workspace_id, $4::bytea from flow_files
     where id = $1 and state = 'fetched' and object_key = $5 for share`,
    [id, chunk.copy, chunk.number, chunk.bytes, object_key],
  )

export const deleteCopy = (db: Db, { id }: StoredRow, copy: string): Promise<number> =>
  db.change('delete from file_chunks where file_id = $1 and lease = $2', [id, copy])

/**
 * From here on the file is read from the chunks of this copy. Those of interrupted copies are deleted, and a trigger notes
 * the object as unused. False if the file was deleted or moved.
 */
export async function switchToChunks(db: Db, { id, object_key }: StoredRow, copy: string): Promise<boolean> {
  const moved = await db.rows(
    `with moved as (
       update flow_files set object_key = null, object_sha256 = null, content = $2
       where id = $1 and state = 'fetched' and object_key = $3
       returning id
     ), others as (
       delete from file_chunks c using moved m where c.file_id = m.id and c.lease <> $2
     )
     select id from moved`,
    [id, copy, object_key],
  )
  return moved.length > 0
}
