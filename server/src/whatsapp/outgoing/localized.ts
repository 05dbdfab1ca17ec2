import { type JsonObject, readObject } from '../read-json.ts'

/** An amount or a date as the value of a template variable. WhatsApp writes it in the format of the recipient's language. */
export interface Localized {
  type: 'currency' | 'date_time'
  value: JsonObject
}

/** Reads `{currency: {…}}` or `{date_time: {…}}`. Null if it is something else. */
export function readLocalized(variable: unknown): Localized | null {
  const [[type, content] = [], another] = Object.entries(readObject(variable) ?? {})
  const value = readObject(content)
  if ((type !== 'currency' && type !== 'date_time') || value === null || another) return null
  return { type, value }
}

/** The text of a variable: of an amount or a date the fallback. Null if it is not a text. */
export function shownText(variable: unknown): string | null {
  const shown = readLocalized(variable)?.value.fallback_value ?? variable
  return typeof shown === 'string' ? shown : null
}
