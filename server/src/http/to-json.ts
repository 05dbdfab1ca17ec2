import buildToJson from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { plainSchema } from '../lib/field-errors.ts'

/** Serializes a response with only the fields that the schema has. Compiled on first use. */
export function toJsonFor(schema: TSchema): (response: unknown) => string {
  let write: ((response: unknown) => string) | undefined
  return (response) => {
    write ??= buildToJson(plainSchema(schema) as object)
    return write(response)
  }
}
