import { setTimeout as sleep } from 'node:timers/promises'
import { type FileLoss, quotaExceeded } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { attachment } from '../../lib/attachment.ts'
import type { ByteRange } from '../../lib/byte-range.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { type FileRow, fileAt, filesOfMessages, isRemoved } from './files.sql.ts'
import { readFile } from './store.ts'

/** A fetched file, to be read in part or completely. */
export interface StoredFile {
  size: number
  contentType: string
  disposition: string
  /** The ETag. The bytes of a file never change. */
  tag: string
  /** Reads a piece at a time, as fast as the consumer takes them. */
  read(range: ByteRange): AsyncGenerator<Buffer>
}

/** The waits between lookups of a file that is being fetched: 2 seconds in total. */
const lookupWaitsMs = [50, 100, 150, 200, 300, 500, 700]
const retryAfterMaxSeconds = 3600

export async function openFile(
  db: Db,
  clock: Clock,
  workspaceId: string,
  responseId: string,
  index: number,
): Promise<StoredFile> {
  const lookup = () => fileAt(db, workspaceId, responseId, index)
  return (await openFound(db, clock, workspaceId, lookup)) ?? refuse('not_found')
}

/** The file of an inbound message. Null if none is stored. */
export const openReceivedFile = (
  db: Db,
  clock: Clock,
  workspaceId: string,
  messageId: string,
): Promise<StoredFile | null> =>
  openFound(db, clock, workspaceId, async () => (await filesOfMessages(db, workspaceId, [messageId]))[0])

async function openFound(
  db: Db,
  clock: Clock,
  workspaceId: string,
  lookup: () => Promise<FileRow | undefined>,
): Promise<StoredFile | null> {
  let file = await lookup()
  for (const waitMs of lookupWaitsMs) {
    if (!file || !isArriving(file, clock.now())) break
    // No database connection is held while waiting.
    await sleep(waitMs)
    file = await lookup()
  }
  if (!file) return null
  if (file.state === 'gone') return refuseLost(file.why)
  if (file.state === 'fetched' && isRemoved(file)) return refuseLost('retention')
  if (file.state !== 'fetched') return refuseTemporarily(file, clock.now())
  return toStored(db, workspaceId, file)
}

export const refuseLost = (why: FileLoss): never => refuse('file_expired', { message: losses[why] })

const losses: Readonly<Record<FileLoss, string>> = {
  missing: 'WhatsApp deleted this file.',
  wrong_hash: 'The file from WhatsApp does not match its checksum.',
  too_large: 'This file is larger than 100 MB, the limit for stored files.',
  too_late: 'This file could not be downloaded before WhatsApp deleted it.',
  quota_exceeded: 'This file did not fit into the storage quota of this workspace before WhatsApp deleted it.',
  retention: 'This file was deleted after its retention period.',
}

/** Whether the file is being fetched, or will be within two seconds. */
const isArriving = (file: FileRow, now: Date): boolean =>
  file.state === 'fetching' || (file.state === 'waiting' && file.due_at.getTime() - now.getTime() <= 2000)

function refuseTemporarily(file: FileRow, now: Date): never {
  if (file.last_error === quotaExceeded && !isArriving(file, now)) {
    refuse('service_unavailable', {
      message:
        'This file is not downloaded, because this workspace has reached its storage quota. It is downloaded when there is space. ' +
        'Ask the operator for more storage.',
      details: { reason: quotaExceeded },
      headers: { 'Retry-After': String(retryAfterMaxSeconds) },
    })
  }
  const seconds = file.state === 'waiting' ? Math.ceil((file.due_at.getTime() - now.getTime()) / 1000) : 2
  return refuse('service_unavailable', {
    message: 'This file is still being downloaded from WhatsApp. Try again later.',
    headers: { 'Retry-After': String(Math.min(retryAfterMaxSeconds, Math.max(1, seconds))) },
  })
}

export function toStored(db: Db, workspaceId: string, file: FileRow & { state: 'fetched' }): StoredFile {
  return {
    size: file.size,
    contentType: file.content_type,
    disposition: attachment(file.file_name, `file-${file.index}`),
    tag: `"${file.content}"`,
    read: (range) => readFile(db, workspaceId, file, range),
  }
}
