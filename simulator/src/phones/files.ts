import type { Json } from '../json.ts'
import { base64Digest, storeMedia } from '../network/media.ts'
import type { Network } from '../network.ts'
import { ControlError, object, optional, type Read, text } from '../shape.ts'
import type { Media, PhoneNumber } from '../world.ts'

/** A file a phone sends: its bytes in base64, or as plain text, or none at all for a small sample. */
export const fileMembers = {
  mimeType: optional(text({ max: 200 })),
  filename: optional(text({ max: 500 })),
  base64: optional(text({ min: 0, max: 150_000_000 })),
  text: optional(text({ min: 0, max: 10_000_000 })),
}

/** In a form: as `sha256` it may claim a digest, in base64, that is not its own. */
export const formFileShape = object({ ...fileMembers, sha256: optional(text({ max: 128 })) })

const fileShape = object(fileMembers)

type FileInput = Read<typeof fileShape>

export type PhoneMedia = 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker'

export interface PhoneFile {
  bytes: Buffer
  mimeType: string
  filename: string
}

const inboundLivesMs = 7 * 86_400_000
export const sealedLivesMs = 20 * 86_400_000
const largestFile = 100 * 1024 * 1024

/** Puts the file where the business can fetch it for seven days. */
export function storeFile(
  network: Network,
  number: PhoneNumber,
  kind: PhoneMedia,
  input: FileInput,
  field: string,
): Media {
  return storeMedia(network, number, { ...readPhoneFile(kind, input, field), livesMs: inboundLivesMs })
}

export function readPhoneFile(kind: PhoneMedia, input: FileInput, field: string): PhoneFile {
  const sample = samples[kind]
  const bytes = bytesOf(input, field) ?? sample.bytes
  if (bytes.length > largestFile) throw new ControlError(`${field} is larger than 100 MB.`, field)
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
  const isFine = bytes.toString('base64').replace(/=+$/, '') === input.base64.replaceAll(/\s/g, '').replace(/=+$/, '')
  if (!isFine) throw new ControlError(`${field}: base64 is not valid.`, `${field}.base64`)
  return bytes
}

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const samples: Record<PhoneMedia, { bytes: Buffer; mimeType: string; filename: string }> = {
  image: { bytes: pixel, mimeType: 'image/png', filename: 'photo.png' },
  video: { bytes: Buffer.from('0000001866747970', 'hex'), mimeType: 'video/mp4', filename: 'clip.mp4' },
  audio: { bytes: Buffer.from('ID3\u0004'), mimeType: 'audio/mpeg', filename: 'song.mp3' },
  voice: { bytes: Buffer.from('OggS'), mimeType: 'audio/ogg; codecs=opus', filename: 'voice.ogg' },
  document: { bytes: Buffer.from('%PDF-1.4\n%%EOF\n'), mimeType: 'application/pdf', filename: 'document.pdf' },
  sticker: {
    bytes: Buffer.from('RIFF\u0004\u0000\u0000\u0000WEBP', 'latin1'),
    mimeType: 'image/webp',
    filename: 'sticker.webp',
  },
}
