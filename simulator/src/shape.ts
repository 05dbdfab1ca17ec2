/** Validates and types an input of the control API. The error names the invalid field. */
export type Shape<T> = (value: unknown, field: string) => T

export type Parsed<S> = S extends Shape<infer T> ? T : never

/** A control API error: sent as the response with its status and message. */
export class ControlError extends Error {
  readonly status: number
  readonly field: string | null

  constructor(message: string, field: string | null = null, status = 400) {
    super(message)
    this.status = status
    this.field = field
  }
}

export function invalid(field: string, expected: string): never {
  throw new ControlError(`${field} must be ${expected}.`, field)
}

function missing(field: string): never {
  throw new ControlError(`${field} is required.`, field)
}

export function text(
  options: { min?: number; max?: number; pattern?: RegExp; description?: string } = {},
): Shape<string> {
  const { min = 1, max = 65_536, pattern, description } = options
  return (value, field) => {
    if (typeof value !== 'string') return invalid(field, description ?? 'a string')
    if (value.length < min || value.length > max)
      invalid(field, description ?? `a string of ${min} to ${max} characters`)
    return !pattern || pattern.test(value) ? value : invalid(field, description ?? 'a string in the expected format')
  }
}

export function number(options: { min?: number; max?: number; integer?: boolean } = {}): Shape<number> {
  const { min = -Infinity, max = Infinity, integer = false } = options
  return (value, field) => {
    const isValid = typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value))
    const range = `${min === -Infinity ? '' : ` from ${min}`}${max === Infinity ? '' : ` to ${max}`}`
    return isValid ? value : invalid(field, `${integer ? 'an integer' : 'a number'}${range}`)
  }
}

export const phoneDigits = text({
  pattern: /^\+?[1-9][\d\s()-]{5,20}$/,
  description: 'a phone number in international format, for example 491701234567',
})

export const date: Shape<string> = (value, field) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))
    ? value
    : invalid(field, 'a date and time in ISO 8601 format')

export const bool: Shape<boolean> = (value, field) =>
  typeof value === 'boolean' ? value : invalid(field, 'true or false')

export function oneOf<const T extends string>(...allowed: T[]): Shape<T> {
  return (value, field) => allowed.find((one) => one === value) ?? invalid(field, `one of ${allowed.join(', ')}`)
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, field) => (value === null ? null : shape(value, field))
}

export function list<T>(item: Shape<T>, max = 1000): Shape<T[]> {
  return (value, field) => {
    if (!Array.isArray(value) || value.length > max) return invalid(field, `a list of at most ${max} items`)
    return value.map((one, index) => item(one, `${field}[${index}]`))
  }
}

export function record<T>(item: Shape<T>): Shape<Record<string, T>> {
  return (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid(field, 'an object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, item(one, `${field}.${key}`)]))
  }
}

export const json: Shape<unknown> = (value) => value

export const jsonObject = record(json)

const optionalMark = Symbol('optional')

type Optional<T> = Shape<T> & { [optionalMark]: true }

/** A member that may be omitted. */
export function optional<T>(shape: Shape<T>): Optional<T> {
  return Object.assign((value: unknown, field: string) => shape(value, field), { [optionalMark]: true as const })
}

type Members = Record<string, Shape<unknown>>
type ReadMembers<M extends Members> = {
  [K in keyof M as M[K] extends { [optionalMark]: true } ? never : K]: Parsed<M[K]>
} & { [K in keyof M as M[K] extends { [optionalMark]: true } ? K : never]?: Parsed<M[K]> }

/** An object with these members and no others. */
export function object<M extends Members>(members: M): Shape<ReadMembers<M>> {
  return (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return invalid(field || 'The body', 'a JSON object')
    const path = (key: string) => (field ? `${field}.${key}` : key)
    const unknown = Object.keys(value).find((key) => !Object.hasOwn(members, key))
    if (unknown !== undefined)
      throw new ControlError(
        `Unknown field ${path(unknown)}. Allowed fields: ${Object.keys(members).join(', ') || 'none'}.`,
        path(unknown),
      )
    const result: Record<string, unknown> = {}
    for (const [key, shape] of Object.entries(members)) {
      const member = (value as Record<string, unknown>)[key]
      if (member !== undefined) result[key] = shape(member, path(key))
      else if (!(optionalMark in shape)) missing(path(key))
    }
    // Each member was validated by its own shape.
    return result as ReadMembers<M>
  }
}
