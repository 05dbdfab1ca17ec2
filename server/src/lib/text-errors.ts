/** Errors of texts. Apart from `field-errors.ts`, so that the command line need not load Ajv: it takes long. */
import type { FieldError } from '@parley/contract/field-errors'

/** The errors of a text that must have 1 to `max` characters. */
export function textErrors(param: string, text: string, max: number): FieldError[] {
  if (text === '') return [{ param, code: 'too_short', message: sentence(param, notEmpty) }]
  return [...text].length > max ? [{ param, code: 'too_long', message: sentence(param, atMostCharacters(max)) }] : []
}

/** Finds text that PostgreSQL cannot store and WhatsApp cannot send: NUL, and unpaired surrogates. */
export function characterErrors(value: unknown, at = ''): FieldError[] {
  if (typeof value === 'string') return isStorable(value) ? [] : [characterError(at)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    isStorable(key) ? characterErrors(inner, at ? `${at}.${key}` : key) : [characterError(at)],
  )
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

const characterError = (at: string): FieldError => ({
  param: shortened(at || 'body'),
  code: 'invalid_characters',
  message: 'The text contains characters that cannot be stored, such as NUL.',
})

export const sentence = (param: string, problem: string): string => `"${param}" ${problem}.`

/** Unknown field names are repeated in the response, so their length is limited. */
export const shortened = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name)

export const notEmpty = 'must not be empty'
export const characters = (count: number): string => `${count} ${count === 1 ? 'character' : 'characters'}`
export const atMostCharacters = (limit: number): string => `must be at most ${characters(limit)}`
