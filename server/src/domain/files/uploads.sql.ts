import type { Db } from '../../db/db.ts'
import { columns, type FileRow } from './files.sql.ts'

/** An upload that is being received. */
export interface NewUpload {
  id: string
  lease: string
  workspaceId: string
  fileName: string
  mimeType: string
  /** The reserved size, until the size is known. */
  size: number
  createdAt: Date
  leaseUntil: Date
  expiresAt: Date
}

/** Inserts an upload, leased to this process. If its lease ends, the fetcher gives it up: nothing can be tried again. */
export const insertUpload = (db: Db, upload: NewUpload): Promise<number> =>
  db.change(
    `insert into flow_files (id, lease, workspace_id, index, field, file_name, mime_type, state, size, due_at,
       try_until, expires_at, created_at)
     values ($1, $2, $3, 0, 'file', $4, $5, 'fetching', $6, $7, $8, $9, $8)`,
    [
      ...[upload.id, upload.lease, upload.workspaceId, upload.fileName, upload.mimeType, upload.size],
      ...[upload.leaseUntil, upload.createdAt, upload.expiresAt],
    ],
  )

export type UploadRow = FileRow & { expires_at: Date }

export const uploadsOf = (db: Db, workspaceId: string, ids: readonly string[]): Promise<UploadRow[]> =>
  db.rows(
    `select ${columns}, expires_at from flow_files
     where workspace_id = $1 and id = any($2::uuid[]) and expires_at is not null`,
    [workspaceId, ids],
  )

/** Deletes up to `limit` uploads without contents that expired before a time, and returns how many. */
export const deleteUploadsBefore = (db: Db, before: Date, limit: number): Promise<number> =>
  db.change(
    `with old as (
       select id from flow_files where state = 'gone' and expires_at is not null and expires_at < $1
       order by expires_at limit $2 for update skip locked
     ), chunks as (
       delete from file_chunks c using old where c.file_id = old.id
     ), media as (
       delete from network_media m using old where m.file_id = old.id
     )
     delete from flow_files f using old where f.id = old.id`,
    [before, limit],
  )
