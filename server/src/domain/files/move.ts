/**
 * Moves files between the database and the file store while the service runs. A file is copied, the copy is read and its hash
 * compared, then one statement makes the row refer to the copy. Wherever that is interrupted, the file is complete in one
 * place, and what the copy left behind is deleted: an object because it is in `unused_objects`, chunks by the next copy or
 * with the file. Two processes may move the same file: one of them succeeds.
 */
import { createHash } from 'node:crypto'
import type { Db } from '../../db/db.ts'
import { subscriberOf } from '../../db/topic.ts'
import { newUuid } from '../../lib/ids.ts'
import { type ObjectStore, ObjectStoreError } from '../../net/object-store.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { placeOf } from './files.sql.ts'
import {
  deleteCopy,
  filesInDatabase,
  filesInObjects,
  insertCopiedChunk,
  readTotals,
  type StoredRow,
  switchToChunks,
  switchToObject,
} from './move.sql.ts'
import { deleteSoon, noteObject } from './objects.sql.ts'
import { fileStore, inChunks, MissingChunk, readPlace } from './store.ts'

export { readTotals } from './move.sql.ts'

export type FileStore = 'database' | 's3'

export interface MoveProgress {
  moved: number
  movedBytes: number
  /** What was to be moved when it began. */
  files: number
  bytes: number
}

export interface MoveResult {
  moved: number
  bytes: number
  /** Files that stay where they are, because bytes are missing or do not match their hash. */
  damaged: DamagedFile[]
}

interface DamagedFile {
  id: string
  reason: string
}

/** Files at a time, each with one chunk in memory. For small files, most of the time is waiting for the store. */
const commandConcurrency = 4
const pageSize = 100
/** In the background it shares the connections to the database with receiving, sending and delivering. */
const background = { concurrency: 2, pageSize: 10 }
/** After this time the newest files come first again. */
const backgroundMs = 30_000
/** A process that stops has a few seconds, and a large file may take longer. */
const checkEveryMs = 1_000
/** Damaged files are rare. This is a limit for the memory of them. */
const damagedMax = 10_000

/** Moves all files, including files that are added during the move. */
export async function moveFiles(
  db: Db,
  objects: ObjectStore,
  to: FileStore,
  onProgress: (progress: MoveProgress) => void,
): Promise<MoveResult> {
  const totals = await readTotals(db)
  const from = to === 's3' ? totals.database : totals.s3
  const result: MoveResult = { moved: 0, bytes: 0, damaged: [] }
  const seen = new Set<string>()
  // Files that are added during the move are newer than the page, so another pass finds them.
  for (let isMoving = true; isMoving; ) {
    const before = result.moved
    const list = to === 's3' ? filesInDatabase : filesInObjects
    const files = pages((last) => list(db, last, pageSize), seen)
    await moveEach(db, objects, files, {
      concurrency: commandConcurrency,
      onMoved({ size }) {
        result.moved++
        result.bytes += size
        onProgress({ moved: result.moved, movedBytes: result.bytes, ...from })
      },
      onDamaged({ id }, reason) {
        seen.add(id)
        result.damaged.push({ id, reason })
      },
    })
    isMoving = to === 's3' && result.moved > before
  }
  return result
}

/**
 * Moves files from the database to the file store in the background, the newest first. While the store is unavailable they
 * stay in the database. `db` fails if another process has taken over the maintenance.
 */
export function newFileMover(database: Db, log: Logger): (db: Db) => Promise<void> {
  const damaged = new Set<string>()
  return async (db) => {
    const objects = subscriberOf(database, fileStore)
    if (!objects?.takesNew) return
    const endMs = performance.now() + backgroundMs
    const list = async (last: StoredRow | null) =>
      performance.now() < endMs ? filesInDatabase(db, last, background.pageSize) : []
    try {
      if (objects.isDown) await objects.check()
      await moveEach(database, objects, pages(list, damaged), {
        concurrency: background.concurrency,
        check: () => db.first('select 1'),
        onMoved: () => {},
        onDamaged({ id, workspace_id }, reason) {
          if (damaged.size < damagedMax) damaged.add(id)
          const fields = { file_id: id, workspace_id, error: reason }
          log.error({ event: 'files.damaged', ...fields }, 'a file is damaged; it stays in the database')
        },
      })
    } catch (error) {
      // The store logs its failures itself. The next run checks it first.
      if (!(error instanceof ObjectStoreError)) throw error
    }
  }
}

async function* pages(
  list: (last: StoredRow | null) => Promise<StoredRow[]>,
  without: ReadonlySet<string>,
): AsyncGenerator<StoredRow, undefined> {
  for (let page = await list(null); page.length > 0; page = await list(page.at(-1) ?? null)) {
    for (const file of page) if (!without.has(file.id)) yield file
  }
}

interface MoveOptions {
  concurrency: number
  /** Called about every second. Fails if the move has to end. */
  check?: () => Promise<unknown>
  onMoved(file: StoredRow): void
  onDamaged(file: StoredRow, reason: string): void
}

async function moveEach(
  db: Db,
  objects: ObjectStore,
  files: AsyncGenerator<StoredRow, undefined>,
  { concurrency, check = async () => {}, onMoved, onDamaged }: MoveOptions,
): Promise<void> {
  const failures: unknown[] = []
  async function moveInTurn(): Promise<void> {
    for (let next = await files.next(); !next.done && failures.length === 0; next = await files.next()) {
      const file = next.value
      const read = newReader(db, check)
      const move = file.object_key === null ? moveToObject(db, read, objects, file) : moveToChunks(db, read, file)
      try {
        if (await move) onMoved(file)
      } catch (error) {
        if (!isDamage(error, file)) throw error
        const now = await placeOf(db, file.workspace_id, file.id)
        // Otherwise it was deleted or moved while it was read.
        if (now?.content === file.content && now.object_key === file.object_key) onDamaged(file, error.message)
      }
    }
  }
  const workers = Array.from({ length: concurrency }, () =>
    moveInTurn().catch((error: unknown) => void failures.push(error)),
  )
  await Promise.all(workers)
  if (failures.length > 0) throw failures[0]
}

/** False if the file was deleted or moved. */
async function moveToObject(db: Db, read: Read, objects: ObjectStore, file: StoredRow): Promise<boolean> {
  const sha256 = await hashOf(read(file))
  // A new object for every copy, so that no two processes write the same one.
  const objectKey = `${objects.prefix}${file.workspace_id}/${file.id}/${newUuid()}`
  await noteObject(db, objectKey, file.workspace_id)
  let isMoved = false
  try {
    await objects.put(objectKey, { size: file.size, sha256, open: () => read(file) })
    await compare(file, sha256, read({ ...file, object_key: objectKey }))
    isMoved = await switchToObject(db, file, { objectKey, sha256 })
  } finally {
    // If this fails too, the object is deleted a day later.
    if (!isMoved) await deleteSoon(db, objectKey).catch(() => {})
  }
  return isMoved
}

async function moveToChunks(db: Db, read: Read, file: StoredRow): Promise<boolean> {
  const copy = newUuid()
  let isMoved = false
  try {
    const sha256 = await copyToChunks(db, read, file, copy)
    if (sha256 === null) return false
    if (sha256 !== file.object_sha256) throw new Damaged('the object does not match its hash')
    await compare(file, sha256, read({ ...file, object_key: null, content: copy }))
    isMoved = await switchToChunks(db, file, copy)
  } finally {
    if (!isMoved) await deleteCopy(db, file, copy).catch(() => {})
  }
  return isMoved
}

/** Returns the hash, or null if the file was deleted or moved. */
async function copyToChunks(db: Db, read: Read, file: StoredRow, copy: string): Promise<string | null> {
  const hash = createHash('sha256')
  let number = 0
  for await (const bytes of inChunks(read(file), Math.min(file.chunk_bytes, file.size))) {
    hash.update(bytes)
    if ((await insertCopiedChunk(db, file, { copy, number: number++, bytes })) === 0) return null
  }
  return hash.digest('hex')
}

type Read = (file: StoredRow) => AsyncGenerator<Buffer>

function newReader(db: Db, check: () => Promise<unknown>): Read {
  let checkedMs = performance.now()
  return async function* read(file) {
    for await (const bytes of readPlace(db, file.workspace_id, file, { first: 0, last: file.size - 1 })) {
      if (performance.now() - checkedMs > checkEveryMs) {
        await check()
        checkedMs = performance.now()
      }
      yield bytes
    }
  }
}

async function hashOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}

async function compare(file: StoredRow, sha256: string, copy: AsyncIterable<Buffer>): Promise<void> {
  if ((await hashOf(copy)) !== sha256) throw new Error(`the copy of file ${file.id} differs from the original`)
}

/** The bytes of a file are not what was stored. */
class Damaged extends Error {}

/** A copy that is missing in the store is no damage of the file. */
const isDamage = (error: unknown, { object_key }: StoredRow): error is Error =>
  error instanceof Damaged ||
  error instanceof MissingChunk ||
  (error instanceof ObjectStoreError && error.kind === 'missing' && object_key !== null)
