/**
 * Parses untrusted JSON. Every function accepts any value and never throws. Text is made storable in PostgreSQL (no
 * NUL, no unpaired surrogate) and cut to the given length.
 */
import { isRawNumber } from '@parley/contract/exact-json'

export type JsonObject = { readonly [key: string]: unknown }

export function readObject(value: unknown): JsonObject | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) return null
  return value as JsonObject
}

export function readArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function cleanText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? text.slice(0, endOfCharacter(text, maxLength)) : text
  const wellFormed = cut.isWellFormed() ? cut : cut.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '') : wellFormed
}

export function readText(value: unknown, maxLength: number): string | null {
  return typeof value === 'string' ? cleanText(value, maxLength) : null
}

/** Text that is not blank. */
export function readNonBlank(value: unknown, maxLength: number): string | null {
  const text = readText(value, maxLength)
  return text === null || text.trim() === '' ? null : text
}

/**
 * IDs are opaque. A number becomes its digits. An ID that is too long is null, because a truncated one could collide.
 */
export function readId(value: unknown, maxLength = 256): string | null {
  const text = digitsOf(value) ?? value
  if (typeof text !== 'string' || text.length === 0 || text.length > maxLength) return null
  const clean = cleanText(text, maxLength)
  return clean === '' ? null : clean
}

function digitsOf(value: unknown): string | null {
  if (isRawNumber(value)) return /^\d+$/.test(value.rawJSON) ? value.rawJSON : null
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null
}

/** A number, or a string that contains one. */
export function readNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || !/^[+-]?\d{1,30}(\.\d{1,30})?$/.test(value)) return null
  return Number(value)
}

/** A phone number as digits. WhatsApp sometimes sends an empty string or a user ID instead of a number. */
export function readPhone(value: unknown): string | null {
  if (typeof value !== 'string') return null
  return /^\+?(\d{1,20})$/.exec(value)?.[1] ?? null
}

const lastSecond = 253_402_300_799

/** Unix seconds, as string or number. */
export const readTime = (value: unknown): Date | null =>
  isTime(value) ? new Date(Math.round(Number(value) * 1000)) : null

export function isTime(value: unknown): boolean {
  const seconds = readNumber(value)
  return seconds !== null && seconds > 0 && seconds <= lastSecond
}

const maxDepth = 64

/** A copy with every key and string cleaned; undefined if it is nested too deeply. */
export function cleanJson(value: unknown, maxLength = 65_536, depth = 0): unknown {
  if (typeof value === 'string') return cleanText(value, maxLength)
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value
  if (depth >= maxDepth) return undefined
  const copies: [string, unknown][] = []
  for (const [key, inner] of Object.entries(value)) {
    const copy = cleanJson(inner, maxLength, depth + 1)
    if (copy === undefined) return undefined
    copies.push([cleanText(key, maxLength), copy])
  }
  // fromEntries defines own properties, so a key named __proto__ does not set the prototype.
  return Array.isArray(value) ? copies.map(([, copy]) => copy) : Object.fromEntries(copies)
}

function endOfCharacter(text: string, index: number): number {
  const last = text.charCodeAt(index - 1)
  return last >= 0xd800 && last <= 0xdbff ? index - 1 : index
}
