/** The types of files that people send, and how their names end. */
const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'video/mp4': '.mp4',
  'video/3gpp': '.3gp',
  'audio/aac': '.aac',
  'audio/amr': '.amr',
  'audio/mpeg': '.mp3',
  'audio/mp4': '.m4a',
  'audio/ogg': '.ogg',
  'application/pdf': '.pdf',
}

const types = new Map([
  ...Object.entries(extensions).map(([type, extension]) => [extension, type] as const),
  ['.jpeg', 'image/jpeg'],
])

/** Empty for other types. */
export const extensionOf = (mimeType: string): string =>
  extensions[mimeType.split(';')[0]?.trim().toLowerCase() ?? ''] ?? ''

/** Undefined for other names. */
export const typeOfName = (fileName: string): string | undefined =>
  types.get(/\.[a-z0-9]+$/i.exec(fileName)?.[0].toLowerCase() ?? '')
