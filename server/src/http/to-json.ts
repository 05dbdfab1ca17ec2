import buildToJson from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { plainSchema } from '../lib/field-errors.ts'

/** Writes answers as JSON, with the members that the schema names and no others. */
export const toJsonFor = (schema: TSchema): ((answer: unknown) => string) => buildToJson(plainSchema(schema) as object)
