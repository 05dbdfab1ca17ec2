import { isObject } from '../json.ts'

/** The same text with every letter and digit replaced: `Ana, 10:30` becomes `Xxx, 00:00`. */
export function redactText(text: string): string {
  return text
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/(?!X)[\p{L}\p{M}]/gu, 'x')
    .replaceAll(/\p{N}/gu, '0')
}

/** The name of a file without its words, but with its extension. */
export function redactFilename(name: string): string {
  const extension = /\.[a-z\d]{1,5}$/i.exec(name)?.[0] ?? ''
  return redactText(name.slice(0, name.length - extension.length)) + extension
}

/** A JSON value with the same keys, and all its texts and numbers replaced. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') return 0
  if (Array.isArray(value)) return value.map(redactValue)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redactValue(one)]))
}
