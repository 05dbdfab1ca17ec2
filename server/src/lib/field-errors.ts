import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { Ajv, type ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import { fieldErrorsMax } from './refuse.ts'
import { atMostCharacters, characters, notEmpty, sentence, shortened } from './text-errors.ts'

export type Source = 'params' | 'query' | 'body'
export type Validator = (value: unknown) => FieldError[]

// Bodies are validated strictly: unknown fields are errors, and "1" is not 1. Query parameters are text, so types are
// coerced.
const settings = {
  allErrors: true,
  strict: false,
  useDefaults: true,
  verbose: true,
  // A test does it: the first request would take a fifth of a second longer.
  validateSchema: false,
  formats: { 'date-time': isTime, date: isDate },
  // Ajv warns about a format that it does not know, and then accepts every text.
  logger: { log: () => {}, warn: failSchema, error: failSchema },
}
const exact = new Ajv(settings)
// A parameter that may be repeated is an array, even if it is given once.
const coercing = new Ajv({ ...settings, coerceTypes: 'array' })
const compileExact = oncePerSchema((schema) => exact.compile(plainSchema(schema)))
const compileCoercing = oncePerSchema((schema) => coercing.compile(plainSchema(schema)))

/** A function that lists the errors of a value. `prefix` is the path of the value in the body. */
export function newValidator(schema: TSchema, source: Source, prefix = ''): Validator {
  const compile = source === 'query' ? compileCoercing : compileExact
  const prepare = source === 'query' ? onlyDigits(schema) : undefined
  return (value) => {
    const validate = compile(schema)
    prepare?.(value as Record<string, unknown>)
    return validate(value) ? [] : toFieldErrors(validate.errors ?? [], source, prefix)
  }
}

/** Ajv would read "1e1", "0x10" and " 5" as whole numbers too. They become empty texts, which it rejects. */
function onlyDigits(schema: TSchema): (query: Record<string, unknown>) => void {
  const properties = Object.entries((schema as { properties?: Record<string, { type?: unknown }> }).properties ?? {})
  const numbers = properties.flatMap(([name, { type }]) => (type === 'integer' ? [name] : []))
  return (query) => {
    for (const name of numbers) {
      const text = query[name]
      if (typeof text === 'string' && !/^-?\d+$/.test(text)) query[name] = ''
    }
  }
}

/**
 * A compiler that runs once for each schema object, when it is first used. Compiling all schemas would slow down the start.
 */
export function oncePerSchema<T extends object>(compile: (schema: TSchema) => T): (schema: TSchema) => T {
  const compiled = new WeakMap<TSchema, T>()
  return (schema) => {
    let result = compiled.get(schema)
    if (!result) {
      result = compile(schema)
      compiled.set(schema, result)
    }
    return result
  }
}

/**
 * The schema without its `$id`s, which only the OpenAPI document needs. Ajv would reject a repeated `$id` as a
 * duplicate.
 */
export function plainSchema(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === '$id' ? undefined : value))) as object
}

function failSchema(problem: unknown): never {
  throw new Error(`This schema cannot be checked: ${problem}`)
}

function isTime(text: string): boolean {
  if (Number.isNaN(Date.parse(text)) || !/(Z|[+-](0\d|1[0-5]):[0-5]\d)$/.test(text)) return false
  return isDate(text.slice(0, 10))
}

/** JavaScript parses February 30 as a day in March; PostgreSQL rejects that, and the year 0. */
function isDate(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`)
  return (
    /^\d{4}-\d{2}-\d{2}$/.test(text) &&
    text >= '0001' &&
    !Number.isNaN(time.getTime()) &&
    time.toISOString().startsWith(text)
  )
}

/** A hostile body can have as many errors as bytes, so only the first ones are reported. */
function toFieldErrors(errors: readonly ErrorObject[], source: Source, prefix: string): FieldError[] {
  const isHidden = hiddenBy(errors)
  const reported = new Map<string, FieldError>()
  for (const error of errors) {
    if (reported.size === fieldErrorsMax) break
    if (isHidden(error)) continue
    const fieldError = toFieldError(error, source, prefix)
    // A time can fail both its pattern and its format.
    reported.set(`${fieldError.param} ${fieldError.code}`, fieldError)
  }
  return [...reported.values()]
}

/**
 * Finds errors that another error makes redundant. If no branch of a union matches, only that is reported and not the
 * errors of each branch. For a nullable value, the errors of the other branch are reported. A value of the wrong type
 * is not also reported as "not one of".
 */
function hiddenBy(errors: readonly ErrorObject[]): (error: ErrorObject) => boolean {
  const wrongType = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath))
  const unions = errors.filter(isUnion).map((error) => {
    const nullAt = nullBranch(error)
    return nullAt === -1 ? `${error.schemaPath}/` : `${error.schemaPath}/${nullAt}/`
  })
  const prefixes = [...new Set(unions)]
  return (error) =>
    (isUnion(error) && nullBranch(error) !== -1) ||
    ((error.keyword === 'const' || error.keyword === 'enum') && wrongType.has(error.instancePath)) ||
    prefixes.some((prefix) => error.schemaPath.startsWith(prefix))
}

const isUnion = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf'

/** The index of `null` in a union of null and one other schema, otherwise -1. */
function nullBranch({ schema }: ErrorObject): number {
  const branches = schema as { type?: unknown }[]
  return branches.length === 2 ? branches.findIndex(({ type }) => type === 'null') : -1
}

function toFieldError(error: ErrorObject, source: Source, prefix: string): FieldError {
  const { keyword, params } = error
  // With the `verbose` setting, every Ajv error has its schema.
  const schema = error.parentSchema as Schema
  // The values of a repeated parameter have one name.
  const segments = error.instancePath.split('/').slice(1, source === 'query' ? 2 : undefined)
  const path = [prefix, ...segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))].filter(
    Boolean,
  )
  if (keyword === 'required')
    return fieldError([...path, String(params.missingProperty)], source, 'missing', 'is required')
  if (keyword === 'additionalProperties') {
    const noun = source === 'query' ? 'parameter' : 'field'
    return fieldError([...path, String(params.additionalProperty)], source, 'unknown', `is not a known ${noun}`)
  }
  const [code, problem] = keywords[keyword]?.(params as Params, schema) ?? notValid
  const result = fieldError(path, source, code, problem)
  return code === 'invalid' && schema.errorMessage ? { ...result, message: schema.errorMessage } : result
}

function fieldError(path: readonly string[], source: Source, code: FieldErrorCode, problem: string): FieldError {
  if (path.length === 0) return { param: source, code, message: `The request ${source} ${problem}.` }
  const param = shortened(path.join('.'))
  return { param, code, message: sentence(param, problem) }
}

interface Params {
  limit: number
  type: string | string[]
  allowedValue: unknown
  allowedValues: unknown[]
}
interface Schema {
  minimum?: number
  maximum?: number
  anyOf?: { const?: unknown }[]
  /** The message for a value that does not have the pattern or format. Patterns mean nothing to a reader. */
  errorMessage?: string
}

const notValid: [FieldErrorCode, string] = ['invalid', 'is not valid']
const entries = (count: number) => `${count} ${count === 1 ? 'entry' : 'entries'}`
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

/** The code and the message for each keyword of a schema. */
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
  minLength: ({ limit }) => ['too_short', limit === 1 ? notEmpty : `must be at least ${characters(limit)}`],
  maxLength: ({ limit }) => ['too_long', atMostCharacters(limit)],
  minItems: ({ limit }) => ['too_few', limit === 1 ? notEmpty : `must have at least ${entries(limit)}`],
  maxItems: ({ limit }) => ['too_many', `must have at most ${entries(limit)}`],
  minProperties: ({ limit }) => ['too_few', limit === 1 ? notEmpty : `must have at least ${limit} fields`],
  minimum: (_params, schema) => range(schema),
  maximum: (_params, schema) => range(schema),
  anyOf: (_params, { anyOf = [] }) =>
    anyOf.every((branch) => branch.const !== undefined)
      ? ['invalid', oneOf(anyOf.map((branch) => branch.const))]
      : notValid,
}
