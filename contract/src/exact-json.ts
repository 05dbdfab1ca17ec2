/**
 * JSON with numbers that JavaScript would change: integers beyond 2^53, long decimals, `1.0`. Such a number is kept as
 * its text in a `JSON.rawJSON` object, and `JSON.stringify` writes it as it was received. A string would be simpler, but
 * would change the type of what a person answered.
 */

export interface RawNumber {
  readonly rawJSON: string
}

type Revive = (key: string, value: unknown, context?: { source?: string }) => unknown

// TypeScript's library does not have these yet.
const json = JSON as unknown as {
  parse(text: string, revive: Revive): unknown
  rawJSON(text: string): RawNumber
  isRawJSON?(value: unknown): value is RawNumber
}

/** Throws if the text is not JSON. A browser that cannot keep the text of a number rounds it. */
export const parseExactly = (text: string): unknown =>
  json.parse(text, (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? json.rawJSON(context.source)
      : value,
  )

export const isRawNumber = (value: unknown): value is RawNumber => json.isRawJSON?.(value) === true

/** A copy with raw numbers as text. */
export function rawNumbersAsText(value: unknown): unknown {
  if (isRawNumber(value)) return value.rawJSON
  if (Array.isArray(value)) return value.map(rawNumbersAsText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rawNumbersAsText(inner)]))
}
