import { pipeline } from 'node:stream/promises'
import { servedType } from '../../lib/attachment.ts'
import type { CallFailure, CallOutcome } from '../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import { BadFile, checkFile, type Download } from '../../whatsapp/graph/media.ts'
import { openSealed } from '../../whatsapp/graph/sealed-file.ts'
import { sha256Hex } from '../../whatsapp/graph/sha256.ts'
import type { FileSource } from '../../whatsapp/incoming/form.ts'
import type { Network } from '../connections/network.ts'
import { networkIdsOf } from '../senders/senders.ts'
import type { FetchFailure } from './fetch-retry-policy.ts'
import { type ClaimedFile, type Fetched, insertChunk, renewLease } from './fetching.sql.ts'
import { OverQuota, Reservation } from './quota.ts'
import { inChunks } from './store.ts'

/** The largest file that is stored: the network's limit for a received file, and for all files of a form. */
export const maxFileBytes = 100 * 1024 * 1024
/** A file is stored in rows of this size. Only one chunk is in memory at a time. */
const chunkBytes = 256 * 1024
/** Well above the renewal interval, which is above the time that a chunk takes. */
export const leaseMs = 60_000
const renewEveryMs = 10_000
const attemptTimeoutMs = 15 * 60_000

export type FetchOutcome =
  | { kind: 'fetched'; file: Fetched }
  | FetchFailure
  /** The workspace has no space for it. */
  | { kind: 'quota_exceeded'; size: number }
  | { kind: 'lost' }
  | { kind: 'stopped' }

/** Another process has claimed the file, so this attempt must stop. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/**
 * Streams a file from the network into chunks. Failures of the network are outcomes; only our own errors are thrown.
 */
export async function fetchFile(
  network: Network,
  claimed: ClaimedFile,
  maxStoredBytes: number,
  stop: AbortSignal,
): Promise<FetchOutcome> {
  const { source, senderId } = claimed
  // Only an upload has neither, and it is deleted before.
  if (source === null || senderId === null) throw new Error(`WhatsApp does not have file ${claimed.id}`)
  const sender = await networkIdsOf(network.db, senderId)
  const access = sender && (await network.vault.accessFor(sender.connectionId))
  if (!access) throw new Error(`no connection for sender ${senderId}`)
  const found = await locate(network, access, source, sender.phoneNumberId)
  if (found.kind !== 'found') return found
  const { sha256, size } = found
  const check = checkFile({ sha256, maxBytes: maxFileBytes })
  const signal = AbortSignal.any([stop, AbortSignal.timeout(attemptTimeoutMs)])
  const writer = newWriter(network, claimed)
  const reservation = new Reservation(network.db, claimed, maxStoredBytes)
  try {
    await reservation.grow(size ?? 0)
    const response = await found.open()
    if (response.kind !== 'ok') return failureOf(response)
    const { body } = response.value
    const { sealed } = source
    const write = (pieces: AsyncIterable<Buffer>) => writer.write(reservation.watch(pieces))
    await (sealed === null
      ? pipeline(body, check, write, { signal })
      : pipeline(body, openSealed(sealed), check, write, { signal }))
    const file = writer.result()
    // Without a hash, at least check the announced size.
    if (sha256 === null && size !== null && size !== file.size) {
      return { kind: 'failed', error: `received ${file.size} bytes instead of ${size}`, retryAfterMs: null }
    }
    return { kind: 'fetched', file }
  } catch (error) {
    if (stop.aborted) return { kind: 'stopped' }
    if (error instanceof LeaseLost) return { kind: 'lost' }
    if (error instanceof BadFile) return { kind: error.why }
    if (error instanceof OverQuota) return { kind: 'quota_exceeded', size: error.size }
    if (error instanceof WriteFailed) throw error.cause
    return { kind: 'failed', error: `interrupted: ${(error as Error).message}`, retryAfterMs: null }
  }
}

type Located =
  | { kind: 'found'; open(): Promise<CallOutcome<Download>>; sha256: string | null; size: number | null }
  | FetchFailure

async function locate(
  network: Network,
  access: GraphAccess,
  source: FileSource,
  phoneNumberId: string,
): Promise<Located> {
  const { client } = network
  if (source.sealed !== null) {
    const { url } = source.sealed
    return { kind: 'found', open: () => client.downloadSealed(access, url), sha256: source.sha256, size: null }
  }
  // The id comes from the submission. With other characters it could address another object of the Graph API.
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(source.media_id)) return { kind: 'missing', error: 'not a media ID' }
  const media = await client.getMedia(access, source.media_id, phoneNumberId)
  if (media.kind !== 'ok') return failureOf(media)
  const { url, fileSize, sha256: networkSha256 } = media.value
  if (fileSize !== null && fileSize > maxFileBytes) return { kind: 'too_large' }
  const announced = sha256Hex(source.sha256)
  if (announced !== null && networkSha256 !== null && announced !== networkSha256) return { kind: 'wrong_hash' }
  const open = () => client.downloadMedia(access, url)
  return { kind: 'found', open, sha256: announced ?? networkSha256, size: fileSize }
}

/** The network reports an unknown object with error code 100. */
function failureOf(failure: CallFailure): FetchFailure {
  if (failure.kind !== 'refused') return { kind: 'failed', error: failure.why, retryAfterMs: null }
  const { status, error, retryAfterMs } = failure
  const text = `${error.code}: ${error.title}`
  if (error.code === 100 || status === 404 || status === 410) return { kind: 'missing', error: text }
  return { kind: 'failed', error: text, retryAfterMs }
}

/** Distinguishes a failed write of ours from a failed download. */
export class WriteFailed extends Error {}

/** Writes a file into chunks, as long as the lease is ours. It renews the lease. */
export function newWriter(
  { db, clock }: Pick<Network, 'db' | 'clock'>,
  claimed: Pick<ClaimedFile, 'id' | 'lease' | 'mimeType'>,
  leaseForMs: number = leaseMs,
) {
  let size = 0
  let number = 0
  let firstBytes = Buffer.alloc(0)
  let renewedMs = performance.now()

  /** Returns 0 if the lease is not ours any more. */
  async function writeChunk(chunk: Buffer): Promise<number> {
    const inserted = await insertChunk(db, claimed, number, chunk)
    if (inserted === 0 || performance.now() - renewedMs < renewEveryMs) return inserted
    renewedMs = performance.now()
    return renewLease(db, claimed, new Date(clock.now().getTime() + leaseForMs))
  }

  return {
    async write(pieces: AsyncIterable<Buffer>): Promise<void> {
      for await (const chunk of inChunks(pieces, chunkBytes)) {
        if (number === 0) firstBytes = Buffer.from(chunk.subarray(0, 512))
        const written = await writeChunk(chunk).catch((error: unknown) => {
          throw new WriteFailed('writing a chunk failed', { cause: error })
        })
        if (written === 0) throw new LeaseLost()
        size += chunk.length
        number++
      }
    },
    result: (): Fetched => ({ size, chunkBytes, contentType: servedType(claimed.mimeType, firstBytes) }),
  }
}
