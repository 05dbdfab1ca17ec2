import type { FieldError } from '@parley/contract/field-errors'
import { degrees } from '@parley/contract/formats'

const isNumeric = new RegExp(degrees.pattern)

/** Checks a coordinate: a number, or a string that contains one. A missing one is not an error. */
export function checkCoordinate(param: string, value: unknown, limit: number): FieldError[] {
  if (value === undefined) return []
  if (typeof value !== 'number' && typeof value !== 'string')
    return [{ param, code: 'wrong_type', message: `"${param}" must be a number.` }]
  if (typeof value === 'string' && !isNumeric.test(value))
    return [{ param, code: 'invalid', message: degrees.errorMessage }]
  if (Math.abs(Number(value)) <= limit) return []
  return [{ param, code: 'out_of_range', message: `"${param}" must be from -${limit} to ${limit}.` }]
}
