import buildToJson from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { plain } from './validate.ts'

/** Writes answers as JSON, with the members that the schema names and no others. */
export const toJsonFor = (schema: TSchema): ((answer: unknown) => string) => buildToJson(plain(schema) as object)
