import type { Fault } from '@parley/contract/errors'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { faultsMax, invalid, Refusal } from '../lib/refuse.ts'

export type Part = 'params' | 'query' | 'body'
export type Check = (value: unknown) => void

// Bodies are taken as they are: nothing unknown is dropped and "1" is not 1. A query is text, so numbers are read from it.
const settings = { allErrors: true, strict: false, useDefaults: true, formats: { 'date-time': isMoment } }
const strict = new Ajv(settings)
const reading = new Ajv({ ...settings, coerceTypes: true })

/**
 * A check against a schema that refuses with every fault named. A path that cannot be an id is simply unknown. The schema is
 * compiled when the check is first used: all of them would take a good part of the start.
 */
export function checkFor(part: Part, schema: TSchema): Check {
  let compiled: ValidateFunction | undefined
  return (value) => {
    compiled ??= (part === 'query' ? reading : strict).compile(plain(schema))
    const validate = compiled
    const faults = validate(value) ? (part === 'body' ? [] : unstorable(value)) : null
    if (faults?.length === 0) return
    if (part === 'params') throw new Refusal('not_found')
    throw invalid(faults ?? faultsOf(validate.errors ?? [], part))
  }
}

/** What PostgreSQL's text has no place for, by where it stands. */
export function unstorable(value: unknown, at = ''): Fault[] {
  if (typeof value === 'string') return value.includes('\0') ? [nulAt(at)] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    return key.includes('\0') ? [nulAt(at)] : unstorable(inner, at ? `${at}.${key}` : key)
  })
}

const nulAt = (at: string): Fault => ({
  param: shortened(at),
  code: 'invalid_characters',
  message: 'The text holds characters that cannot be stored.',
})

/** A time there is: JavaScript takes the 30th of February for a day in March, and PostgreSQL neither that nor the year 0. */
function isMoment(text: string): boolean {
  const day = text.slice(0, 10)
  if (Number.isNaN(Date.parse(text)) || day < '0001' || !/(Z|[+-](0\d|1[0-5]):[0-5]\d)$/.test(text)) return false
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

/** The schema without its names, which only the OpenAPI document needs: Ajv would take each for a second definition. */
export function plain(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === '$id' ? undefined : value))) as object
}

export function faultsOf(errors: readonly ErrorObject[], part: Part): Fault[] {
  // Of a choice between shapes only the choice itself is told, not why each of them did not fit. A hostile body has as
  // many faults as it has bytes, but not more kinds of them than the schema has places.
  const choices = new Set(errors.filter(isChoice).map(({ schemaPath }) => `${schemaPath}/`))
  const telling: ErrorObject[] = []
  for (const error of errors) {
    if (telling.length === faultsMax) break
    if (![...choices].some((choice) => error.schemaPath.startsWith(choice))) telling.push(error)
  }
  return telling.map((error) => toFault(error, part))
}

const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf'

/** A name the caller made up is repeated to them, but not at any length. */
const shortened = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name)

function toFault({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject, part: Part): Fault {
  const at = shortened(instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~'))
  const below = (name: string) => shortened(at ? `${at}.${name}` : name)
  if (keyword === 'required') {
    const param = below(String(params.missingProperty))
    return { param, code: 'missing', message: `${param} is missing.` }
  }
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const param = below(String(params.additionalProperty ?? params.unevaluatedProperty))
    const what = part === 'query' ? 'parameter of this endpoint' : 'field here'
    return { param, code: 'unknown', message: `${param} is not a ${what}.` }
  }
  const param = at || part
  if (keyword === 'enum') {
    return {
      param,
      code: 'invalid',
      message: `${param} must be one of ${(params.allowedValues as unknown[]).join(', ')}.`,
    }
  }
  return { param, code: keyword === 'type' ? 'type' : 'invalid', message: `${param} ${message}.` }
}
