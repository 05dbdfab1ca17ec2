import { createHash } from 'node:crypto'
import { newObjectId } from '../ids.ts'
import type { Network } from '../network.ts'
import type { Media, PhoneNumber } from '../world.ts'

interface NewMedia {
  bytes: Buffer
  mimeType: string
  filename: string | null
  livesMs: number
}

export function storeMedia(network: Network, number: PhoneNumber, file: NewMedia): Media {
  const media: Media = {
    id: newObjectId(9),
    wabaId: number.wabaId,
    numberId: number.id,
    mimeType: file.mimeType,
    sha256: createHash('sha256').update(file.bytes).digest('hex'),
    size: file.bytes.length,
    filename: file.filename,
    expiresAt: new Date(network.timers.now().getTime() + file.livesMs).toISOString(),
  }
  network.media.put(media.id, file.bytes)
  network.world.media.set(media.id, media)
  network.changed()
  return media
}

/** Webhooks print the digest in base64, the API in hex. */
export function base64Digest(media: Media): string {
  return Buffer.from(media.sha256, 'hex').toString('base64')
}
