import { errorExamples } from '@parley/contract/error-examples'
import { type ErrorCode, errorCatalogue, errorCodes } from '@parley/contract/errors'
import { examplesOf } from '@parley/contract/page'
import type { TSchema } from 'typebox'

type Json = Record<string, unknown>

/** The examples of a body: the examples of the route, or the first of its schema. */
export function bodyExamples(schema: TSchema, named?: Readonly<Record<string, unknown>>): Json {
  if (named) return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, { value }]))
  const [value] = examplesOf(schema)
  return value === undefined ? {} : { example: { value } }
}

/** An example of a parameter, even if its schema only has a default or a list of values. */
export function parameterExample(schema: TSchema): unknown {
  const { default: fallback, enum: values = [] } = schema as { default?: unknown; enum?: unknown[] }
  return examplesOf(schema)[0] ?? fallback ?? values[0]
}

/** The examples of the errors that the routes refer to. An error of another surface, such as `/mcp`, is not one of them. */
export function errorComponents(paths: Json): Json {
  const text = JSON.stringify(paths)
  const used = errorCodes.filter((code) => text.includes(`"#/components/examples/${code}"`))
  return Object.fromEntries(
    used.map((code) => [code, { summary: errorCatalogue[code].title, value: errorExamples[code] }]),
  )
}

export const errorRefs = (codes: readonly ErrorCode[]): Json =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
