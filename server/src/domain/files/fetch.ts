import { pipeline } from 'node:stream/promises'
import { servedType } from '../../lib/attachment.ts'
import type { GraphAccess } from '../../whatsapp/client.ts'
import type { CallFailure } from '../../whatsapp/graph-call.ts'
import type { FileSource } from '../../whatsapp/incoming-form.ts'
import { BadFile, checkFile, type Download } from '../../whatsapp/media.ts'
import { openSealed } from '../../whatsapp/sealed-file.ts'
import { sha256Hex } from '../../whatsapp/sha256.ts'
import type { Network } from '../connections/network.ts'
import { networkIdsOf } from '../senders/senders.ts'
import type { FetchFailure } from './fetch-retry-policy.ts'
import { type ClaimedFile, type Fetched, insertChunk, renewLease } from './fetching.sql.ts'

/** The most that is kept of one file: what the network lets a form carry in all. */
export const maxFileBytes = 100 * 1024 * 1024
/** A file is kept in rows of this size; no more of it than one is in memory at a time. */
export const chunkBytes = 256 * 1024
/** Well above the time between two renewals, which is above the time a chunk takes. */
export const leaseMs = 60_000
const renewEveryMs = 10_000
const attemptMs = 15 * 60_000

export type FetchOutcome = { kind: 'fetched'; file: Fetched } | FetchFailure | { kind: 'lost' } | { kind: 'stopped' }

/** Another process has claimed the file: whatever comes of this attempt is of no use. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Streams a file from the network into chunks. What the network does is an outcome; only our own faults are thrown. */
export async function fetchFile(network: Network, claimed: ClaimedFile, stop: AbortSignal): Promise<FetchOutcome> {
  const sender = await networkIdsOf(network.db, claimed.senderId)
  const access = sender && (await network.vault.accessFor(sender.connectionId))
  if (!access) throw new Error(`the connection of the sender ${claimed.senderId} is gone`)
  const found = await locate(network, access, claimed.source, sender.phoneNumberId)
  if (found.kind !== 'found') return found
  const { download, sha256, size } = found
  const check = checkFile({ sha256, maxBytes: maxFileBytes })
  const signal = AbortSignal.any([stop, AbortSignal.timeout(attemptMs)])
  const writer = newWriter(network, claimed)
  try {
    const { sealed } = claimed.source
    await (sealed === null
      ? pipeline(download.body, check, writer.write, { signal })
      : pipeline(download.body, openSealed(sealed), check, writer.write, { signal }))
    const file = writer.result()
    // Where there is no digest to go by, the size at least must be as announced.
    if (sha256 === null && size !== null && size !== file.size) {
      return { kind: 'failed', error: `${file.size} bytes came in place of ${size}`, retryAfterMs: null }
    }
    return { kind: 'fetched', file }
  } catch (error) {
    if (stop.aborted) return { kind: 'stopped' }
    if (error instanceof LeaseLost) return { kind: 'lost' }
    if (error instanceof BadFile) return { kind: error.why }
    if (error instanceof WriteFailed) throw error.cause
    return { kind: 'failed', error: `broke off: ${(error as Error).message}`, retryAfterMs: null }
  }
}

type Located = { kind: 'found'; download: Download; sha256: string | null; size: number | null } | FetchFailure

async function locate(
  network: Network,
  access: GraphAccess,
  source: FileSource,
  phoneNumberId: string,
): Promise<Located> {
  const { client } = network
  if (source.sealed !== null) {
    const response = await client.downloadSealed(access, source.sealed.url)
    if (response.kind !== 'ok') return failureOf(response)
    return { kind: 'found', download: response.value, sha256: source.sha256, size: null }
  }
  // The id comes from the submission; one that is no plain word would name something else at the network.
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(source.media_id)) return { kind: 'missing', error: 'not an id of the network' }
  const media = await client.getMedia(access, source.media_id, phoneNumberId)
  if (media.kind !== 'ok') return failureOf(media)
  const { url, fileSize, sha256: held } = media.value
  if (fileSize !== null && fileSize > maxFileBytes) return { kind: 'too_large' }
  const announced = sha256Hex(source.sha256)
  if (announced !== null && held !== null && announced !== held) return { kind: 'wrong_hash' }
  const response = await client.downloadMedia(access, url)
  if (response.kind !== 'ok') return failureOf(response)
  return { kind: 'found', download: response.value, sha256: announced ?? held, size: fileSize }
}

/** Code 100 is how the network says that it knows no such object. */
function failureOf(failure: CallFailure): FetchFailure {
  if (failure.kind !== 'refused') return { kind: 'failed', error: failure.why, retryAfterMs: null }
  const { status, error, retryAfterMs } = failure
  const words = `${error.code}: ${error.title}`
  if (error.code === 100 || status === 404 || status === 410) return { kind: 'missing', error: words }
  return { kind: 'failed', error: words, retryAfterMs }
}

/** Tells our own failure to write from the network's failure to send. */
class WriteFailed extends Error {}

function newWriter({ db, clock }: Network, claimed: ClaimedFile) {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let filled = 0
  let size = 0
  let number = 0
  let beginning = Buffer.alloc(0)
  let renewedMs = performance.now()

  async function flush(): Promise<void> {
    if (filled === 0) return
    if (number === 0) beginning = Buffer.from(chunk.subarray(0, Math.min(filled, 512)))
    const isOurs = await ours(async () => {
      const kept = await insertChunk(db, claimed, number, chunk.subarray(0, filled))
      if (kept === 0 || performance.now() - renewedMs < renewEveryMs) return kept
      renewedMs = performance.now()
      return renewLease(db, claimed, new Date(clock.now().getTime() + leaseMs))
    })
    if (!isOurs) throw new LeaseLost()
    number++
    filled = 0
  }

  async function ours(write: () => Promise<number>): Promise<boolean> {
    try {
      return (await write()) > 0
    } catch (error) {
      throw new WriteFailed('a chunk could not be written', { cause: error })
    }
  }

  return {
    async write(pieces: AsyncIterable<Buffer>): Promise<void> {
      for await (const piece of pieces) {
        size += piece.length
        for (let at = 0; at < piece.length; ) {
          const taken = piece.copy(chunk, filled, at)
          at += taken
          filled += taken
          if (filled === chunkBytes) await flush()
        }
      }
      await flush()
    },
    result: (): Fetched => ({ size, chunkBytes, contentType: servedType(claimed.mimeType, beginning) }),
  }
}
