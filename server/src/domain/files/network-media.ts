/**
 * Uploads files to the network, so that a number can send them. Each file is uploaded once for each number, whatever the number
 * of messages and processes that wait for it, and again if the network no longer has it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { newUuid } from '../../lib/ids.ts'
import { batched } from '../../sharing/batch.ts'
import { FairShares } from '../../sharing/fair-shares.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { CallFailure } from '../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import type { Network } from '../connections/network.ts'
import {
  claimNetworkUpload,
  findNetworkMedia,
  forgetNetworkMedia,
  recordNetworkUpload,
  renewNetworkUpload,
  type SentFile,
  type UploadLease,
} from './network-media.sql.ts'
import { toStored } from './read.ts'
import { uploadsOf } from './uploads.sql.ts'

/** A file, and the number that sends it. */
export interface MediaTarget extends SentFile {
  workspaceId: string
  phoneNumberId: string
  access: GraphAccess
}

type MediaOutcome =
  | { kind: 'ready'; mediaId: string }
  /** It is being uploaded, here or in another process. */
  | { kind: 'uploading' }
  /** The file was deleted after it expired. */
  | { kind: 'expired' }
  | CallFailure

export interface MediaUploads {
  /** The network's ID of a file, for a number. Uploads it if necessary, and waits up to `waitMs` for that. */
  find(target: MediaTarget, waitMs: number): Promise<MediaOutcome>
  /** Asks the network whether it has the file. If not, forgets its ID, so that the file is uploaded again. */
  forgetIfUnknown(target: MediaTarget, mediaId: string): Promise<boolean>
  /** Aborts the uploads of this process. */
  stop(): void
}

/** The network keeps files for 30 days. A message may wait for a day until it is sent. */
const networkKeepsMs = 28 * 86_400_000
/** If a process dies, another one uploads the file after this. */
const leaseMs = 30_000
const renewEveryMs = 8_000
const lookEveryMs = 250
/** Uploads of a process at a time. Workspaces share them fairly. */
const concurrency = 16

export function newMediaUploads(network: Network, log: Logger): MediaUploads {
  const { db, clock, client } = network
  const running = new Map<string, Promise<MediaOutcome>>()
  const slots = new FairShares(concurrency)
  const stopping = new AbortController()

  const since = () => new Date(clock.now().getTime() - networkKeepsMs)
  const later = (ms: number) => new Date(clock.now().getTime() + ms)

  const findKnown = batched(async (wanted: SentFile[]) => {
    const found = await findNetworkMedia(db, { wanted, since: since() })
    const byKey = new Map(found.map((each) => [keyOf(each), each.mediaId]))
    return wanted.map((each) => byKey.get(keyOf(each)) ?? null)
  })

  /** Starts the upload, if no process does it already and a slot is free. */
  async function startUpload(target: MediaTarget): Promise<void> {
    const { fileId, senderId, workspaceId } = target
    if (stopping.signal.aborted || !slots.take(workspaceId)) return
    const lease: UploadLease = { fileId, senderId, workspaceId, lease: newUuid() }
    let isOurs = false
    try {
      const times = { until: later(leaseMs), now: clock.now(), since: since() }
      isOurs = (await claimNetworkUpload(db, { ...lease, ...times })) > 0
    } finally {
      if (!isOurs) slots.release(workspaceId)
    }
    if (!isOurs) return
    const key = keyOf(target)
    const uploading = upload(target, lease).finally(() => {
      running.delete(key)
      slots.release(workspaceId)
    })
    running.set(key, uploading)
    // The messages that wait for it get the error. If none waits, the next message tries again.
    uploading.catch(() => {})
  }

  async function upload(target: MediaTarget, lease: UploadLease): Promise<MediaOutcome> {
    const { workspaceId, fileId, access, phoneNumberId } = target
    const renewing = setInterval(() => {
      renewNetworkUpload(db, lease, later(leaseMs)).catch(() => {})
    }, renewEveryMs).unref()
    let mediaId: string | null = null
    try {
      const [file] = await uploadsOf(db, workspaceId, [fileId])
      if (file?.state !== 'fetched') return { kind: 'expired' }
      const { size, read } = toStored(db, workspaceId, file)
      const open = () => read({ first: 0, last: size - 1 })
      const content = { name: file.file_name, mimeType: file.mime_type, size, open }
      const outcome = await client.uploadMedia(access, phoneNumberId, content, stopping.signal)
      db.telemetry.metrics.add('file uploads', outcome.kind)
      if (outcome.kind === 'ok') {
        mediaId = outcome.value
        return { kind: 'ready', mediaId }
      }
      const ids = { file_id: fileId, sender_id: target.senderId, workspace_id: workspaceId }
      log.warn({ event: 'media.upload_failed', ...ids, outcome: outcome.kind }, 'uploading a file to WhatsApp failed')
      return outcome
    } finally {
      clearInterval(renewing)
      await recordNetworkUpload(db, lease, mediaId, clock.now())
    }
  }

  return {
    async find(target, waitMs) {
      const key = keyOf(target)
      const untilMs = performance.now() + waitMs
      for (;;) {
        if (stopping.signal.aborted) return { kind: 'uploading' }
        const uploading = running.get(key)
        const leftMs = Math.max(0, untilMs - performance.now())
        const outcome = uploading ? await Promise.race([uploading, sleep(leftMs, null, { ref: false })]) : null
        if (outcome) return outcome
        const mediaId = await findKnown(target)
        if (mediaId !== null) return { kind: 'ready', mediaId }
        if (leftMs === 0) return { kind: 'uploading' }
        if (!running.has(key)) await startUpload(target)
        if (!running.has(key)) await sleep(Math.min(lookEveryMs, leftMs))
      }
    },
    async forgetIfUnknown(target, mediaId) {
      const { access, phoneNumberId } = target
      const outcome = await client.getMedia(access, mediaId, phoneNumberId)
      const isUnknown = outcome.kind === 'refused' && (outcome.error.code === 100 || outcome.status === 404)
      if (isUnknown) await forgetNetworkMedia(db, target, mediaId)
      return isUnknown
    },
    stop: () => stopping.abort(),
  }
}

const keyOf = ({ fileId, senderId }: SentFile): string => `${fileId} ${senderId}`
