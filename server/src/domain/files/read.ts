import { setTimeout as sleep } from 'node:timers/promises'
import type { FileLoss } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { attachment } from '../../lib/attachment.ts'
import type { ByteRange } from '../../lib/byte-range.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { chunkPart, type FileRow, fileAt } from './files.sql.ts'

/** A file that is here, ready to be read in part or whole. */
export interface KeptFile {
  size: number
  contentType: string
  disposition: string
  /** Changes whenever the bytes do, which is never. */
  tag: string
  /** The bytes, a chunk at a time and no faster than they are taken. */
  read(range: ByteRange): AsyncGenerator<Buffer>
}

/** A file that is just being fetched is waited for as long as this all in all. */
const looksMs = [50, 100, 150, 200, 300, 500, 700]
const longestWaitSeconds = 3600
/** So much is read at a time, by each download: in base64 it fits what a socket gives at once, and is collected young. */
const readBytes = 32 * 1024

export async function openFile(
  db: Db,
  clock: Clock,
  workspaceId: string,
  responseId: string,
  index: number,
): Promise<KeptFile> {
  const look = async () => (await fileAt(db, workspaceId, responseId, index)) ?? refuse('not_found')
  let file = await look()
  for (const waitMs of looksMs) {
    if (!isUnderWay(file, clock.now())) break
    // Between two looks no connection is held.
    await sleep(waitMs)
    file = await look()
  }
  if (file.state === 'gone') return refuse('file_expired', { message: losses[file.why] })
  if (file.state !== 'fetched') return refuseForNow(file, clock.now())
  return toKept(db, workspaceId, file)
}

const losses: Readonly<Record<FileLoss, string>> = {
  missing: 'The network no longer has this file.',
  wrong_hash: 'What the network has for this file is not what was uploaded.',
  too_large: 'This file is larger than the service keeps.',
  too_late: 'This file could not be fetched for as long as the network kept it.',
  retention: 'This file is past its retention.',
}

/** Worth a moment's patience: somebody is at it, or will be within that moment. */
const isUnderWay = (file: FileRow, now: Date): boolean =>
  file.state === 'fetching' || (file.state === 'waiting' && file.due_at.getTime() - now.getTime() <= 2000)

function refuseForNow(file: FileRow, now: Date): never {
  const seconds = file.state === 'waiting' ? Math.ceil((file.due_at.getTime() - now.getTime()) / 1000) : 2
  return refuse('service_unavailable', {
    message: 'This file is still being fetched from the network.',
    headers: { 'Retry-After': String(Math.min(longestWaitSeconds, Math.max(1, seconds))) },
  })
}

function toKept(db: Db, workspaceId: string, file: FileRow & { state: 'fetched' }): KeptFile {
  return {
    size: file.size,
    contentType: file.content_type,
    disposition: attachment(file.file_name, `file-${file.index}`),
    tag: `"${file.content}"`,
    async *read({ first, last }) {
      for (let at = first; at <= last; ) {
        const number = Math.floor(at / file.chunk_bytes)
        const within = at - number * file.chunk_bytes
        const count = Math.min(readBytes, file.chunk_bytes - within, last - at + 1)
        const bytes = await chunkPart(db, workspaceId, file, { number, first: within, count })
        // Dropped while it was read: the answer is cut off, which the reader notices by its length.
        if (bytes.length !== count) throw new Error(`chunk ${number} of the file ${file.id} is gone`)
        yield bytes
        at += count
      }
    },
  }
}
