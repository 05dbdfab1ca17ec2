/** A JSON value nobody has looked at yet, and the small questions we ask of it. */
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

/** Strings and numbers alike: the network takes both for ids, indexes and coordinates. */
export function scalarIn(value: unknown, key: string): string | undefined {
  const member = isObject(value) ? value[key] : undefined
  return typeof member === 'string' || typeof member === 'number' ? String(member) : undefined
}

/** A value as an error message shows it; a stranger's object may not even have a usable toString. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
}

/** Characters as a person counts them, so that an emoji is not two. */
export function lengthOf(text: string): number {
  return [...text].length
}
