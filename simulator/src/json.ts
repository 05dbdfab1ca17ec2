/** Unvalidated JSON, with functions that read members of an expected type. */
export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectIn(value: unknown, key: string): Json | undefined {
  const member = isObject(value) ? value[key] : undefined
  return isObject(member) ? member : undefined
}

export function arrayIn(value: unknown, key: string): unknown[] | undefined {
  const member = isObject(value) ? value[key] : undefined
  return Array.isArray(member) ? member : undefined
}

export function textIn(value: unknown, key: string): string | undefined {
  const member = isObject(value) ? value[key] : undefined
  return typeof member === 'string' ? member : undefined
}

/** A string or a number: the network accepts both for IDs, indexes and coordinates. */
export function scalarIn(value: unknown, key: string): string | undefined {
  const member = isObject(value) ? value[key] : undefined
  return typeof member === 'string' || typeof member === 'number' ? String(member) : undefined
}

/** A value for an error message. Uses JSON because an object may have no usable `toString`. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
}

/** Counts code points, so that an emoji counts as one character. */
export function lengthOf(text: string): number {
  return [...text].length
}
