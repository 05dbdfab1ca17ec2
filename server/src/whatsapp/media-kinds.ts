/** What WhatsApp accepts as the file of a message. */

export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

interface Accepted {
  /** Null: any type. */
  types: readonly string[] | null
  maxBytes: number
  maxText: string
}

const MiB = 1024 * 1024

const accepted: Readonly<Record<MediaKind, Accepted>> = {
  image: { types: ['image/jpeg', 'image/png'], maxBytes: 5 * MiB, maxText: '5 MB' },
  video: { types: ['video/mp4', 'video/3gpp'], maxBytes: 16 * MiB, maxText: '16 MB' },
  audio: {
    types: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/opus'],
    maxBytes: 16 * MiB,
    maxText: '16 MB',
  },
  // WhatsApp lists a few types and accepts others.
  document: { types: null, maxBytes: 100 * MiB, maxText: '100 MB' },
  sticker: { types: ['image/webp'], maxBytes: 500 * 1024, maxText: '500 KB' },
}

/** Why a file cannot be sent as this kind; null if it can. */
export function whyNotOfKind(kind: MediaKind, file: { mimeType: string; size: number }): string | null {
  const { types, maxBytes, maxText } = accepted[kind]
  if (types !== null && !types.includes(file.mimeType)) {
    return `The file has the type ${file.mimeType}. For ${kind}, WhatsApp accepts ${types.join(', ')}.`
  }
  if (file.size > maxBytes) return `The file has ${file.size} bytes. For ${kind}, WhatsApp accepts at most ${maxText}.`
  return null
}
