/** Headers of file downloads. File names and types come from untrusted senders, so they are sanitized here. */

// Control characters, and characters that reverse the text direction, which make `jpg.exe` look like `exe.gpj`.
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The `Content-Disposition` header: an ASCII name for old clients, and the full name as in RFC 5987 for all others. */
export function attachment(fileName: string, fallback: string): string {
  const name = safeName(fileName) || fallback
  const plain = name.replaceAll(/[^A-Za-z0-9._ -]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*!]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

function safeName(fileName: string): string {
  const last = fileName.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  return [...last.replaceAll(unsafeCharacters, '').replace(/^[.\s]+/, '')].slice(0, 200).join('').trim()
}

const office = 'vnd.openxmlformats-officedocument.'
const safeTypes = new Set([
  ...['jpeg', 'png', 'gif', 'webp', 'heic', 'heif', 'avif', 'bmp', 'tiff'].map((kind) => `image/${kind}`),
  ...['aac', 'amr', 'mpeg', 'mp4', 'ogg', 'opus', 'wav', 'webm'].map((kind) => `audio/${kind}`),
  ...['mp4', '3gpp', 'quicktime', 'webm'].map((kind) => `video/${kind}`),
  ...['plain', 'csv'].map((kind) => `text/${kind}`),
  ...['pdf', 'zip', 'json', 'rtf', 'msword', 'vnd.ms-excel', 'vnd.ms-powerpoint'].map((kind) => `application/${kind}`),
  ...['wordprocessingml.document', 'spreadsheetml.sheet', 'presentationml.presentation'].map(
    (kind) => `application/${office}${kind}`,
  ),
  ...['text', 'spreadsheet', 'presentation'].map((kind) => `application/vnd.oasis.opendocument.${kind}`),
])

const unknownType = 'application/octet-stream'

/**
 * The content type to serve a file with. The claimed type is used if browsers do not execute it, and if the file does
 * not start like HTML that is declared as an image.
 */
export function servedType(claimed: string, start: Buffer): string {
  const type = (claimed.split(';')[0] ?? '').trim().toLowerCase()
  return safeTypes.has(type) && !startsLikeMarkup(start) ? type : unknownType
}

function startsLikeMarkup(start: Buffer): boolean {
  const text = start.subarray(0, 512).toString('latin1')
  // Also matches UTF-16 and text after a byte order mark.
  return text
    .replaceAll('\0', '')
    .replace(/^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
    .trimStart()
    .startsWith('<')
}
