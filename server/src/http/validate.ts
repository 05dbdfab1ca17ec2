import type { TSchema } from 'typebox'
import { newValidator, type Source } from '../lib/field-errors.ts'
import { refuse, refuseInvalid } from '../lib/refuse.ts'
import { characterErrors } from '../lib/text-errors.ts'

export type Check = (value: unknown) => void

/** The schema of a query or a body that may have no fields. */
export const noFields = { type: 'object', additionalProperties: false, properties: {} } as TSchema

/** A check that refuses a value with all its errors. An invalid path parameter is 404, like an unknown ID. */
export function checkFor(source: Source, schema: TSchema): Check {
  const validate = newValidator(schema, source)
  return (value) => {
    const schemaErrors = validate(value)
    const errors = schemaErrors.length > 0 ? schemaErrors : characterErrors(value)
    if (errors.length === 0) return
    if (source === 'params') refuse('not_found')
    refuseInvalid(errors)
  }
}
