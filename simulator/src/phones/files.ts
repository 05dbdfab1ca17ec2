import { readFileSync } from 'node:fs'
import type { Json } from '../json.ts'
import { base64Digest, mediaUrl, storeMedia } from '../network/media.ts'
import type { Network } from '../network.ts'
import { bool, ControlError, object, optional, type Parsed, text } from '../shape.ts'
import type { Media, PhoneNumber } from '../world.ts'

/** A file from a phone: base64 bytes or plain text. Without either, a small sample is sent. */
export const fileMembers = {
  mimeType: optional(text({ max: 200 })),
  filename: optional(text({ max: 500 })),
  base64: optional(text({ min: 0, max: 150_000_000 })),
  text: optional(text({ min: 0, max: 10_000_000 })),
}

/** A file in a form. `sha256` overrides the reported digest (base64), even with a wrong value. */
export const formFileShape = object({ ...fileMembers, sha256: optional(text({ max: 128 })) })

const fileShape = object(fileMembers)

/** A file with its caption, as the actions take it. */
export const mediaMembers = { ...fileMembers, caption: optional(text({ max: 1024 })), animated: optional(bool) }

const mediaShape = object(mediaMembers)

type FileInput = Parsed<typeof fileShape>

export type PhoneMedia = 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker'

export interface PhoneFile {
  bytes: Buffer
  mimeType: string
  filename: string
}

const inboundTtlMs = 7 * 86_400_000
export const encryptedFileTtlMs = 20 * 86_400_000
const maxFileBytes = 100 * 1024 * 1024

/** Stores the file as media that the business can download for seven days. */
export function storeFile(
  network: Network,
  number: PhoneNumber,
  kind: PhoneMedia,
  input: FileInput,
  field: string,
): Media {
  return storeMedia(network, number, { ...readPhoneFile(kind, input, field), ttlMs: inboundTtlMs })
}

/** The message of a file: its type, and the object under it. */
export function mediaMessage(
  network: Network,
  business: PhoneNumber,
  kind: PhoneMedia,
  input: Parsed<typeof mediaShape>,
): { type: string; content: Json } {
  const media = storeFile(network, business, kind, input, kind)
  const content: Json = {
    ...(input.caption ? { caption: input.caption } : {}),
    ...(kind === 'document' ? { filename: media.filename } : {}),
    mime_type: media.mimeType,
    sha256: base64Digest(media),
    id: media.id,
    url: mediaUrl(network, media.id, 'webhook'),
    ...(kind === 'voice' || kind === 'audio' ? { voice: kind === 'voice' } : {}),
    ...(kind === 'sticker' ? { animated: input.animated ?? false } : {}),
  }
  return { type: kind === 'voice' ? 'audio' : kind, content }
}

export function readPhoneFile(kind: PhoneMedia, input: FileInput, field: string): PhoneFile {
  const sample = samples[kind]
  const bytes = bytesOf(input, field) ?? sample.bytes
  if (bytes.length > maxFileBytes) throw new ControlError(`${field} is larger than 100 MB.`, field)
  const isSample = input.base64 === undefined && input.text === undefined
  const mimeType = input.mimeType ?? (input.text !== undefined && !isSample ? 'text/plain' : sample.mimeType)
  return { bytes, mimeType, filename: input.filename ?? sample.filename }
}

export function fileReference(media: Media, sha256: string = base64Digest(media)): Json {
  return { file_name: media.filename, mime_type: media.mimeType, sha256, id: media.id }
}

function bytesOf(input: FileInput, field: string): Buffer | undefined {
  if (input.text !== undefined) return Buffer.from(input.text, 'utf8')
  if (input.base64 === undefined) return undefined
  const bytes = Buffer.from(input.base64, 'base64')
  const isValid = bytes.toString('base64').replace(/=+$/, '') === input.base64.replaceAll(/\s/g, '').replace(/=+$/, '')
  if (!isValid) throw new ControlError(`${field}: base64 is invalid.`, `${field}.base64`)
  return bytes
}

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** The samples of the handset are small files that a browser plays. */
function handsetFile(name: string): Buffer {
  return readFileSync(new URL(`../../handset/${name}`, import.meta.url))
}

const samples: Record<PhoneMedia, { bytes: Buffer; mimeType: string; filename: string }> = {
  image: { bytes: pixel, mimeType: 'image/png', filename: 'photo.png' },
  video: { bytes: handsetFile('clip.mp4'), mimeType: 'video/mp4', filename: 'clip.mp4' },
  audio: { bytes: Buffer.from('ID3\u0004'), mimeType: 'audio/mpeg', filename: 'song.mp3' },
  voice: { bytes: handsetFile('voice.ogg'), mimeType: 'audio/ogg; codecs=opus', filename: 'voice.ogg' },
  document: { bytes: Buffer.from('%PDF-1.4\n%%EOF\n'), mimeType: 'application/pdf', filename: 'document.pdf' },
  sticker: { bytes: handsetFile('sticker.webp'), mimeType: 'image/webp', filename: 'sticker.webp' },
}
