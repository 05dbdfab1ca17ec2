/** What a download says about itself, made harmless: names and types come from strangers. */

// Besides control characters: those that turn the direction of writing, which make `exe.gpj` out of `jpg.exe`.
const treacherous = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** `Content-Disposition` of a download: plain letters for old clients, the whole name after RFC 5987 for all others. */
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
  return [...last.replaceAll(treacherous, '').replace(/^[.\s]+/, '')].slice(0, 200).join('').trim()
}

const office = 'vnd.openxmlformats-officedocument.'
const harmless = new Set([
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
 * The type to serve a file as: what it claims to be if that is a plain type no browser acts upon, and it does not begin
 * like a page that passes itself off as a picture.
 */
export function servedType(claimed: string, beginning: Buffer): string {
  const type = (claimed.split(';')[0] ?? '').trim().toLowerCase()
  return harmless.has(type) && !beginsLikeMarkup(beginning) ? type : unknownType
}

function beginsLikeMarkup(beginning: Buffer): boolean {
  const text = beginning.subarray(0, 512).toString('latin1')
  // Also in UTF-16, and after the mark that says so.
  return text
    .replaceAll('\0', '')
    .replace(/^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
    .trimStart()
    .startsWith('<')
}
