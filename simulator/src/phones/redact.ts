import { isObject } from '../json.ts'

/** The same text with every letter and digit replaced: `Ana, 10:30` becomes `Xxx, 00:00`. */
export function redactText(text: string): string {
  return text
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/(?!X)[\p{L}\p{M}]/gu, 'x')
    .replaceAll(/\p{N}/gu, '0')
}

/** Any other ending may be a word: `Dr.Meyer`, `Report.HIV`. */
const extensions =
  /\.(3gp|aac|amr|avi|bmp|csv|docx?|gif|heic|html?|ics|jpe?g|json|m4a|mov|mp3|mp4|od[pst]|ogg|opus|pdf|png|pptx?|rtf|svg|tiff?|txt|vcf|wav|webm|webp|xlsx?|xml|zip)$/i

/** The name of a file without its words, but with its extension. */
export function redactFilename(name: string): string {
  const extension = extensions.exec(name)?.[0] ?? ''
  return redactText(name.slice(0, name.length - extension.length)) + extension
}

/** A JSON value with the same keys, and all its texts, numbers and booleans replaced. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') return 0
  if (typeof value === 'boolean') return false
  if (Array.isArray(value)) return value.map(redactValue)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redactValue(one)]))
}
