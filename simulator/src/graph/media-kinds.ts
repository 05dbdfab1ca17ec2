const megabyte = 1024 * 1024

/** The MIME types that a business can upload, by kind, with WhatsApp's size limits. */
const kinds: [kind: MediaKind, maxBytes: number, mimes: string[]][] = [
  ['audio', 16 * megabyte, ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/opus']],
  [
    'document',
    100 * megabyte,
    [
      'text/plain',
      'application/pdf',
      'application/msword',
      'application/vnd.ms-excel',
      'application/vnd.ms-powerpoint',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    ],
  ],
  ['image', 5 * megabyte, ['image/jpeg', 'image/png']],
  ['sticker', 500 * 1024, ['image/webp']],
  ['video', 16 * megabyte, ['video/mp4', 'video/3gpp']],
]

export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

export function bareMime(mime: string): string {
  return (mime.split(';')[0] ?? '').trim().toLowerCase()
}

export function kindOfMime(mime: string): MediaKind | undefined {
  return kinds.find(([, , mimes]) => mimes.includes(bareMime(mime)))?.[0]
}

export function maxBytesOf(kind: MediaKind): number {
  return kinds.find(([name]) => name === kind)?.[1] ?? 0
}

export function allMimes(): string[] {
  return kinds.flatMap(([, , mimes]) => mimes)
}
