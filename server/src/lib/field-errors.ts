import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { Ajv, type ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import { fieldErrorsMax } from './refuse.ts'

export type Source = 'params' | 'query' | 'body'
export type Validator = (value: unknown) => FieldError[]

// Bodies are taken as they are: nothing unknown is dropped and "1" is not 1. A query is text, so numbers are read from it.
const settings = { allErrors: true, strict: false, useDefaults: true, verbose: true, formats: { 'date-time': isTime } }
const exact = new Ajv(settings)
const coercing = new Ajv({ ...settings, coerceTypes: true })

/** Compiles a schema into a function that lists what is wrong with a value. `prefix` is where in the body the value is. */
export function newValidator(schema: TSchema, source: Source, prefix = ''): Validator {
  const validate = (source === 'query' ? coercing : exact).compile(plainSchema(schema))
  return (value) => (validate(value) ? [] : toFaults(validate.errors ?? [], source, prefix))
}

/** The schema without its names, which only the OpenAPI document needs: Ajv would take each for a second definition. */
export function plainSchema(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === '$id' ? undefined : value))) as object
}

/** What is wrong with a text that has to have 1 to `max` characters. */
export function textErrors(param: string, text: string, max: number): FieldError[] {
  if (text === '') return [{ param, code: 'too_short', message: sentence(param, notEmpty) }]
  return [...text].length > max ? [{ param, code: 'too_long', message: sentence(param, atMostCharacters(max)) }] : []
}

/** Text that PostgreSQL cannot store and the network cannot send: NUL, and half of a surrogate pair. */
export function characterErrors(value: unknown, at = ''): FieldError[] {
  if (typeof value === 'string') return isStorable(value) ? [] : [characterFault(at)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    isStorable(key) ? characterErrors(inner, at ? `${at}.${key}` : key) : [characterFault(at)],
  )
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

const characterFault = (at: string): FieldError => ({
  param: shortened(at || 'body'),
  code: 'invalid_characters',
  message: 'The text contains characters that cannot be stored.',
})

/** JavaScript reads the 30th of February as a day in March; PostgreSQL takes neither that nor the year 0. */
function isTime(text: string): boolean {
  const day = text.slice(0, 10)
  if (Number.isNaN(Date.parse(text)) || day < '0001' || !/(Z|[+-](0\d|1[0-5]):[0-5]\d)$/.test(text)) return false
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

/** A hostile body has as many errors as it has bytes; only the first ones are reported. */
function toFaults(errors: readonly ErrorObject[], source: Source, prefix: string): FieldError[] {
  const isHidden = hiddenBy(errors)
  const faults = new Map<string, FieldError>()
  for (const error of errors) {
    if (faults.size === fieldErrorsMax) break
    if (isHidden(error)) continue
    const fault = toFault(error, source, prefix)
    // A time can fail its pattern and its format at once.
    faults.set(`${fault.param} ${fault.code}`, fault)
  }
  return [...faults.values()]
}

/**
 * Errors that another one makes redundant. Of a choice between shapes only the choice is reported, not what is wrong with each
 * shape; of a value that may be null, what is wrong with it if it is not. A value of the wrong type is not also "not one of".
 */
function hiddenBy(errors: readonly ErrorObject[]): (error: ErrorObject) => boolean {
  const wrongType = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath))
  const choices = errors.filter(isChoice).map((error) => {
    const nullAt = nullBranch(error)
    return nullAt === -1 ? `${error.schemaPath}/` : `${error.schemaPath}/${nullAt}/`
  })
  const prefixes = [...new Set(choices)]
  return (error) =>
    (isChoice(error) && nullBranch(error) !== -1) ||
    ((error.keyword === 'const' || error.keyword === 'enum') && wrongType.has(error.instancePath)) ||
    prefixes.some((prefix) => error.schemaPath.startsWith(prefix))
}

const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf'

/** Where `null` is in a choice between it and one other schema. */
function nullBranch({ schema }: ErrorObject): number {
  const branches = schema as { type?: unknown }[]
  return branches.length === 2 ? branches.findIndex(({ type }) => type === 'null') : -1
}

function toFault(error: ErrorObject, source: Source, prefix: string): FieldError {
  const { keyword, params } = error
  // Ajv is told to be verbose, so every error comes with its schema.
  const schema = error.parentSchema as Schema
  const steps = error.instancePath.split('/').slice(1)
  const path = [prefix, ...steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))].filter(Boolean)
  if (keyword === 'required') return fault([...path, String(params.missingProperty)], source, 'missing', 'is required')
  if (keyword === 'additionalProperties') {
    const what = source === 'query' ? 'parameter' : 'field'
    return fault([...path, String(params.additionalProperty)], source, 'unknown', `is not a known ${what}`)
  }
  const [code, claim] = keywords[keyword]?.(params as Params, schema) ?? ['invalid', 'is not valid']
  const made = fault(path, source, code, claim)
  return code === 'invalid' && schema.errorMessage ? { ...made, message: schema.errorMessage } : made
}

function fault(path: readonly string[], source: Source, code: FieldErrorCode, claim: string): FieldError {
  if (path.length === 0) return { param: source, code, message: `The request ${source} ${claim}.` }
  const param = shortened(path.join('.'))
  return { param, code, message: sentence(param, claim) }
}

const sentence = (param: string, claim: string): string => `"${param}" ${claim}.`

/** A name that the caller made up is repeated to them, but not at any length. */
const shortened = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name)

interface Params {
  limit: number
  type: string | string[]
  allowedValue: unknown
  allowedValues: unknown[]
}
interface Schema {
  minimum?: number
  maximum?: number
  examples?: unknown[]
  anyOf?: { const?: unknown }[]
  /** The sentence for a value that is not in the required format. */
  errorMessage?: string
}

const notEmpty = 'must not be empty'
const atMostCharacters = (limit: number) => `must be at most ${limit} characters`
const oneOf = (values: readonly unknown[]) => `must be one of ${values.join(', ')}`
const typeNames: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}

const range = ({ minimum, maximum }: Schema): [FieldErrorCode, string] => {
  if (minimum === undefined) return ['out_of_range', `must be at most ${maximum}`]
  return [
    'out_of_range',
    maximum === undefined ? `must be at least ${minimum}` : `must be from ${minimum} to ${maximum}`,
  ]
}
const format = (_params: Params, { examples }: Schema): [FieldErrorCode, string] => [
  'invalid',
  examples?.[0] === undefined
    ? 'is not in the required format'
    : `is not in the required format, for example ${examples[0]}`,
]

/** What each keyword of a schema says of a value that fails it. */
const keywords: Record<string, (params: Params, schema: Schema) => [FieldErrorCode, string]> = {
  type: ({ type }) => [
    'wrong_type',
    `must be ${[type]
      .flat()
      .map((each) => typeNames[each] ?? each)
      .join(' or ')}`,
  ],
  enum: ({ allowedValues }) => ['invalid', oneOf(allowedValues)],
  const: ({ allowedValue }) => ['invalid', `must be ${JSON.stringify(allowedValue)}`],
  pattern: format,
  format,
  minLength: ({ limit }) => ['too_short', limit === 1 ? notEmpty : `must be at least ${limit} characters`],
  maxLength: ({ limit }) => ['too_long', atMostCharacters(limit)],
  minItems: ({ limit }) => ['too_few', limit === 1 ? notEmpty : `must have at least ${limit} entries`],
  maxItems: ({ limit }) => ['too_many', `must have at most ${limit} entries`],
  minProperties: ({ limit }) => ['too_few', limit === 1 ? notEmpty : `must have at least ${limit} fields`],
  minimum: (_params, schema) => range(schema),
  maximum: (_params, schema) => range(schema),
  anyOf: (_params, { anyOf = [] }) =>
    anyOf.every((branch) => branch.const !== undefined)
      ? ['invalid', oneOf(anyOf.map((branch) => branch.const))]
      : ['invalid', 'does not have one of the allowed shapes'],
}
