import buildToJson from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { plainSchema } from '../lib/field-errors.ts'

/** Writes answers as JSON, with the members that the schema names and no others. Compiled at its first use. */
export function toJsonFor(schema: TSchema): (response: unknown) => string {
  let write: ((response: unknown) => string) | undefined
  return (response) => {
    write ??= buildToJson(plainSchema(schema) as object)
    return write(response)
  }
}
