/**
 * Where the bytes of a file are: in chunks in the database or, with PARLEY_FILES_URL, in an object of the file store. The
 * file's row says which, so both are readable at the same time. New files are written to chunks; `move.ts` moves them.
 */
import type { Db } from '../../db/db.ts'
import { subscribe, subscriberOf, type Topic } from '../../db/topic.ts'
import type { ByteRange } from '../../lib/byte-range.ts'
import { refuse } from '../../lib/refuse.ts'
import { type ObjectStore, ObjectStoreError } from '../../net/object-store.ts'
import type { S3Settings } from '../../net/s3-settings.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { chunkPart, type Place, placeOf } from './files.sql.ts'
import { hasFilesInObjects } from './objects.sql.ts'

/** The size of one read of a chunk. In base64 it fits one read of a socket, and its garbage is collected early. */
const readBytes = 32 * 1024
const retryAfterSeconds = 10

/** The store in PARLEY_FILES_URL, if it is set. Files in the database are read and written without it. */
export const fileStore = 'file store' as Topic<ObjectStore>

/** Opens the store of the settings for this process. */
export async function openObjects(db: Db, settings: S3Settings | null, log: Logger): Promise<ObjectStore | null> {
  if (settings === null) return null
  // Its memory is only for those who need it.
  const { newS3Store } = await import('../../net/s3.ts')
  const objects = newS3Store(settings, log, db.telemetry.metrics)
  subscribe(db, fileStore, objects)
  return objects
}

/** Logs an error if files are in a store that this process does not know. */
export async function warnIfUnreadable(db: Db, log: Logger): Promise<void> {
  if (subscriberOf(db, fileStore) || !(await hasFilesInObjects(db))) return
  const message = 'files are in a file store, and PARLEY_FILES_URL is not set: they cannot be read'
  log.error({ event: 'files.store_not_set' }, message)
}

/**
 * Reads a piece at a time, as fast as the consumer takes them. If the file is moved, or the connection to the store
 * breaks, reading continues with the next byte.
 */
export async function* readFile(
  db: Db,
  workspaceId: string,
  file: Place,
  { first, last }: ByteRange,
): AsyncGenerator<Buffer> {
  let place = file
  for (let at = first; at <= last; ) {
    const start = at
    try {
      for await (const bytes of readFairly(db, workspaceId, place, { first: at, last })) {
        at += bytes.length
        yield bytes
      }
    } catch (error) {
      if (!(error instanceof MissingChunk || error instanceof ObjectStoreError)) throw error
      const now = await placeOf(db, workspaceId, file.id)
      if (now && (now.object_key !== place.object_key || now.content !== place.content)) place = now
      else if (error instanceof MissingChunk) throw error
      else if (error.kind === 'missing') throw new Error(`the object of file ${file.id} is missing`, { cause: error })
      else if (at === start) refuseUnavailable()
    }
  }
}

/** A slow client keeps a connection to the store, so a workspace has a share of them. */
async function* readFairly(db: Db, workspaceId: string, file: Place, range: ByteRange): AsyncGenerator<Buffer> {
  const downloads = file.object_key === null ? undefined : subscriberOf(db, fileStore)?.downloads
  if (downloads && !downloads.take(workspaceId)) {
    db.telemetry.metrics.add('overload', 'file_downloads')
    refuse('service_unavailable', { message: 'Too many files are being downloaded. Try again shortly.' })
  }
  try {
    yield* readPlace(db, workspaceId, file, range)
  } finally {
    downloads?.release(workspaceId)
  }
}

/** Reads from exactly this place. */
export async function* readPlace(db: Db, workspaceId: string, file: Place, range: ByteRange): AsyncGenerator<Buffer> {
  if (range.last < range.first) return
  if (file.object_key === null) return yield* readChunks(db, workspaceId, file, range)
  const objects = subscriberOf(db, fileStore)
  if (!objects) return refuseUnavailable()
  yield* await objects.get(file.object_key, range)
}

async function* readChunks(db: Db, workspaceId: string, file: Place, { first, last }: ByteRange) {
  for (let at = first; at <= last; ) {
    const number = Math.floor(at / file.chunk_bytes)
    const within = at - number * file.chunk_bytes
    const count = Math.min(readBytes, file.chunk_bytes - within, last - at + 1)
    const bytes = await chunkPart(db, workspaceId, file, { number, first: within, count })
    if (bytes.length !== count) throw new MissingChunk(`chunk ${number} of file ${file.id} is missing`)
    yield bytes
    at += count
  }
}

/** The bytes in chunks of this size; the last one may be smaller. A chunk is valid until the next one is read. */
export async function* inChunks(pieces: AsyncIterable<Buffer>, chunkBytes: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let filled = 0
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.copy(chunk, filled, at)
      at += taken
      filled += taken
      if (filled < chunkBytes) continue
      yield chunk
      filled = 0
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled)
}

/** Deleted or moved while being read. A response that has begun is aborted, and the client sees that it is too short. */
export class MissingChunk extends Error {}

function refuseUnavailable(): never {
  return refuse('service_unavailable', {
    message: 'The store of this file is unavailable. Try again later.',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}
