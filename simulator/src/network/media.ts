import { createHash, createHmac } from 'node:crypto'
import { newObjectId, newSecret } from '../ids.ts'
import type { Network } from '../network.ts'
import type { Media, PhoneNumber } from '../world.ts'

interface NewMedia {
  bytes: Buffer
  mimeType: string
  filename: string | null
  ttlMs: number
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
    expiresAt: new Date(network.timers.now().getTime() + file.ttlMs).toISOString(),
  }
  network.media.put(media.id, file.bytes)
  network.world.media.set(media.id, media)
  network.changed()
  return media
}

/** Webhooks have the digest in base64, the API in hex. */
export function base64Digest(media: Media): string {
  return Buffer.from(media.sha256, 'hex').toString('base64')
}

const urlTtlMs = 5 * 60_000
const urlKey = newSecret()

/** A download URL. It expires after five minutes and requires an access token. */
export function mediaUrl(network: Network, id: string, source: 'getMedia' | 'webhook'): string {
  const ext = Math.floor((network.timers.now().getTime() + urlTtlMs) / 1000)
  return `${network.url}/whatsapp_business/attachments/?mid=${id}&source=${source}&ext=${ext}&hash=${hashOf(id, ext)}`
}

function hashOf(id: string, ext: number): string {
  return createHmac('sha256', urlKey).update(`${id} ${ext}`).digest('base64url')
}

/** True for a URL from `mediaUrl` that is unchanged and has not expired. */
export function isValidMediaUrl(network: Network, id: string, ext: number, hash: string): boolean {
  return ext * 1000 > network.timers.now().getTime() && hash === hashOf(id, ext)
}

/** The MIME type of a stored encrypted file, whose content type is unknown. */
export const encryptedType = 'application/x-sealed'

/** The URL of an encrypted file. It needs no access token. */
export const encryptedFileUrl = (network: Network, id: string): string => `${network.url}/v/${id}`
