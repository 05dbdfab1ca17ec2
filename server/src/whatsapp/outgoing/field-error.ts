import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import type { JsonObject } from '../read-json.ts'

export const fieldError = (param: string, code: FieldErrorCode, message: string): FieldError => ({
  param,
  code,
  message,
})

/** Refuses an object with both members or with neither. */
export function checkEither(at: string, object: JsonObject | null, one: string, other: string): FieldError[] {
  if (object === null || (object[one] === undefined) !== (object[other] === undefined)) return []
  return [fieldError(at, 'invalid', `"${at}" must have either "${one}" or "${other}".`)]
}
