import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

/** An upload, and the number that sends it. */
export interface SentFile {
  fileId: string
  senderId: string
}

/** The network's IDs of uploads that the network got after a time. */
export const findNetworkMedia = statement(
  { wanted: { fileId: 'uuid', senderId: 'uuid' }, since: 'timestamptz' },
  ({ wanted, since }) => `select m.file_id as "fileId", m.sender_id as "senderId", m.media_id as "mediaId"
     from ${wanted} join network_media m on m.file_id = wanted.file_id and m.sender_id = wanted.sender_id
     where m.media_id is not null and m.uploaded_at > ${since}`,
).rows<SentFile & { mediaId: string }>

/** The right to upload a file for a number. */
export interface UploadLease extends SentFile {
  workspaceId: string
  lease: string
}

/** Returns 0 if another process uploads it, or has just done so. */
export const claimNetworkUpload = statement(
  {
    fileId: 'uuid',
    senderId: 'uuid',
    workspaceId: 'uuid',
    lease: 'uuid',
    until: 'timestamptz',
    now: 'timestamptz',
    since: 'timestamptz',
  },
  ({ fileId, senderId, workspaceId, lease, until, now, since }) =>
    `insert into network_media as m (file_id, sender_id, workspace_id, lease, lease_until)
     values (${fileId}, ${senderId}, ${workspaceId}, ${lease}, ${until})
     on conflict (file_id, sender_id) do update set lease = excluded.lease, lease_until = excluded.lease_until
     where m.lease_until <= ${now} and (m.media_id is null or m.uploaded_at <= ${since})`,
).change

const isLeased = 'file_id = $1 and sender_id = $2 and lease = $3'

export const renewNetworkUpload = (db: Db, { fileId, senderId, lease }: UploadLease, until: Date): Promise<number> =>
  db.change(`update network_media set lease_until = $4 where ${isLeased}`, [fileId, senderId, lease, until])

/** Records that the network has the file; with null, that the upload failed. Ends the lease. */
export const recordNetworkUpload = (
  db: Db,
  { fileId, senderId, lease }: UploadLease,
  mediaId: string | null,
  now: Date,
): Promise<number> =>
  db.change(
    `update network_media set media_id = $4, uploaded_at = case when $4::text is not null then $5::timestamptz end, lease = null,
       lease_until = $5
     where ${isLeased}`,
    [fileId, senderId, lease, mediaId, now],
  )

/** Forgets an ID that the network does not know. */
export const forgetNetworkMedia = (db: Db, { fileId, senderId }: SentFile, mediaId: string): Promise<number> =>
  db.change(
    `update network_media set media_id = null, uploaded_at = null where file_id = $1 and sender_id = $2 and media_id = $3`,
    [fileId, senderId, mediaId],
  )
