/** Files that are uploaded to be sent: received in chunks, and deleted after they expire. */
import { createHash } from 'node:crypto'
import { type Media, maxUploadBytes, uploadDays } from '@parley/contract/media'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid, withPrefix } from '../../lib/ids.ts'
import { refuse, refuseParam } from '../../lib/refuse.ts'
import { LeaseLost, newWriter, WriteFailed } from './fetch.ts'
import { deleteUpload, recordFetched } from './fetching.sql.ts'
import { typeOfName } from './file-types.ts'
import { lockStored, minCountedBytes, storedBytes } from './quota.ts'
import { insertUpload, type NewUpload, uploadsOf } from './uploads.sql.ts'

export interface UploadDeps {
  /** Limited to the workspace. */
  db: Db
  clock: Clock
  workspaceId: string
  /** How much the files of the workspace may take. */
  maxStoredBytes: number
}

interface IncomingFile {
  fileName: string
  mimeType: string
  bytes: AsyncIterable<Buffer>
}

/** The request: its size if known, and how to receive its file. */
export interface IncomingUpload {
  length: number | null
  receive<T>(store: (file: IncomingFile) => Promise<T>): Promise<T>
}

/** Longer than a client may take for an upload. If the process dies, the file is given up after this. */
const uploadLeaseMs = 20 * 60_000

const dayMs = 86_400_000

/** Stores a file while it arrives. If anything fails, nothing of it is kept. */
export async function saveUpload(deps: UploadDeps, { length, receive }: IncomingUpload): Promise<Media> {
  const { db, clock } = deps
  const begun: NewUpload[] = []
  try {
    const { upload, file } = await receive(async (incoming) => {
      const upload = await begin(deps, incoming, length)
      begun.push(upload)
      return { upload, file: await store(deps, upload, incoming.bytes) }
    })
    if ((await recordFetched(db, upload, file, clock.now())) === 0) throw new LeaseLost()
    const { id, mimeType, createdAt, expiresAt } = upload
    return {
      id: withPrefix('med', id),
      object: 'media',
      mime_type: mimeType,
      size: file.size,
      sha256: file.sha256,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    }
  } catch (error) {
    // If this fails too, its lease expires, and the fetcher deletes it.
    for (const upload of begun) await deleteUpload(db, upload).catch(() => {})
    if (error instanceof WriteFailed) throw error.cause
    if (error instanceof LeaseLost) refuse('service_unavailable')
    throw error
  }
}

/** A complete upload. Its contents are deleted some time after it expires. */
export interface Upload {
  mimeType: string
  size: number
  expiresAt: Date
}

/** The completed uploads of a workspace with these UUIDs. */
export async function findUploads(db: Db, workspaceId: string, ids: readonly string[]): Promise<Map<string, Upload>> {
  const rows = ids.length === 0 ? [] : await uploadsOf(db, workspaceId, ids)
  return new Map(
    rows.flatMap((row) => {
      const { id, mime_type: mimeType, expires_at: expiresAt } = row
      if (row.state === 'fetched') return [[id, { mimeType, size: row.size, expiresAt }]]
      const isExpired = row.state === 'gone' && row.why === 'retention'
      return isExpired ? [[id, { mimeType, size: 0, expiresAt }]] : []
    }),
  )
}

/** Reserves the space of the file. */
async function begin(
  { db, clock, workspaceId, maxStoredBytes }: UploadDeps,
  { fileName, mimeType }: IncomingFile,
  length: number | null,
): Promise<NewUpload> {
  const now = clock.now()
  const upload: NewUpload = {
    id: newUuid(now.getTime()),
    lease: newUuid(),
    workspaceId,
    fileName: storableName(fileName),
    mimeType: typeOf(storableType(mimeType), fileName),
    size: 0,
    createdAt: now,
    leaseUntil: new Date(now.getTime() + uploadLeaseMs),
    expiresAt: new Date(now.getTime() + uploadDays * dayMs),
  }
  await db.transaction(async (tx) => {
    await lockStored(tx, workspaceId)
    const left = maxStoredBytes - (await storedBytes(tx, workspaceId))
    // Without a known length, the file may take what is left.
    upload.size = Math.min(length ?? left, maxUploadBytes)
    if (Math.max(upload.size, minCountedBytes) > left) refuseFull(maxStoredBytes)
    await insertUpload(tx, upload)
  })
  return upload
}

function refuseFull(limit: number): never {
  refuse('payload_too_large', {
    message:
      `This file does not fit: the files of this workspace, uploaded and received, may take ${limit / 1_000_000} MB. ` +
      `Uploads expire after ${uploadDays} days. Ask the operator for more storage.`,
    details: { limit },
  })
}

async function store({ db, clock, maxStoredBytes }: UploadDeps, upload: NewUpload, bytes: AsyncIterable<Buffer>) {
  const hash = createHash('sha256')
  const writer = newWriter({ db, clock }, upload, uploadLeaseMs)
  async function* watched(): AsyncGenerator<Buffer> {
    let size = 0
    for await (const piece of bytes) {
      size += piece.length
      if (size > upload.size) refuseFull(maxStoredBytes)
      hash.update(piece)
      yield piece
    }
  }
  await writer.write(watched())
  const file = writer.result()
  if (file.size === 0) refuseParam('file', 'too_short', 'The file is empty.')
  return { ...file, sha256: hash.digest('hex') }
}

/** PostgreSQL cannot store NUL. */
const storableName = (name: string): string => name.replaceAll('\0', '').toWellFormed().slice(0, 240)

/** Clients that do not know the type of a file send none, which means `text/plain`, or this. */
const unknownTypes = ['text/plain', 'application/octet-stream']

const typeOf = (type: string, fileName: string): string => (unknownTypes.includes(type) && typeOfName(fileName)) || type

/** The type becomes a header of the request to the network. */
const storableType = (type: string): string =>
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(type) ? type : 'application/octet-stream'
