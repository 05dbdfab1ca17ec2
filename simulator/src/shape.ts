/** Small descriptions of what the control API and its phones take. They read a value, give it its type, and name the field that is wrong. */
export type Shape<T> = (value: unknown, field: string) => T

export type Read<S> = S extends Shape<infer T> ? T : never

/** Asked for something the simulator will not or cannot do; answered with the status and a sentence. */
export class ControlError extends Error {
  readonly status: number
  readonly field: string | null

  constructor(message: string, field: string | null = null, status = 400) {
    super(message)
    this.status = status
    this.field = field
  }
}

export function wrong(field: string, expected: string): never {
  throw new ControlError(`${field} must be ${expected}.`, field)
}

export function text(options: { min?: number; max?: number; pattern?: RegExp; means?: string } = {}): Shape<string> {
  const { min = 1, max = 65_536, pattern, means } = options
  return (value, field) => {
    if (typeof value !== 'string') return wrong(field, means ?? 'a string')
    if (value.length < min || value.length > max) wrong(field, means ?? `a string of ${min} to ${max} characters`)
    return !pattern || pattern.test(value) ? value : wrong(field, means ?? `a string like ${pattern}`)
  }
}

export function number(options: { min?: number; max?: number; whole?: boolean } = {}): Shape<number> {
  const { min = -Infinity, max = Infinity, whole = false } = options
  return (value, field) => {
    const isFine = typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value))
    const range = `${min === -Infinity ? '' : ` from ${min}`}${max === Infinity ? '' : ` to ${max}`}`
    return isFine ? value : wrong(field, `a ${whole ? 'whole ' : ''}number${range}`)
  }
}

export const bool: Shape<boolean> = (value, field) =>
  typeof value === 'boolean' ? value : wrong(field, 'true or false')

export function oneOf<const T extends string>(...words: T[]): Shape<T> {
  return (value, field) => words.find((word) => word === value) ?? wrong(field, `one of ${words.join(', ')}`)
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, field) => (value === null ? null : shape(value, field))
}

export function list<T>(item: Shape<T>, max = 1000): Shape<T[]> {
  return (value, field) => {
    if (!Array.isArray(value) || value.length > max) return wrong(field, `a list of at most ${max}`)
    return value.map((one, index) => item(one, `${field}[${index}]`))
  }
}

export function record<T>(item: Shape<T>): Shape<Record<string, T>> {
  return (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong(field, 'an object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, item(one, `${field}.${key}`)]))
  }
}

export const json: Shape<unknown> = (value) => value

export const jsonObject = record(json)

const left = Symbol('optional')

type Optional<T> = Shape<T> & { [left]: true }

/** A member that may be left out. */
export function optional<T>(shape: Shape<T>): Optional<T> {
  return Object.assign((value: unknown, field: string) => shape(value, field), { [left]: true as const })
}

type Members = Record<string, Shape<unknown>>
type ReadMembers<M extends Members> = {
  [K in keyof M as M[K] extends { [left]: true } ? never : K]: Read<M[K]>
} & { [K in keyof M as M[K] extends { [left]: true } ? K : never]?: Read<M[K]> }

/** An object with these members and no others. */
export function object<M extends Members>(members: M): Shape<ReadMembers<M>> {
  return (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(field || 'The body', 'a JSON object')
    const path = (key: string) => (field ? `${field}.${key}` : key)
    const unknown = Object.keys(value).find((key) => !Object.hasOwn(members, key))
    if (unknown !== undefined)
      throw new ControlError(
        `${path(unknown)} is not known here. Known: ${Object.keys(members).join(', ') || 'nothing'}.`,
        path(unknown),
      )
    const result: Record<string, unknown> = {}
    for (const [key, shape] of Object.entries(members)) {
      const member = (value as Record<string, unknown>)[key]
      if (member !== undefined) result[key] = shape(member, path(key))
      else if (!(left in shape)) wrong(path(key), 'given')
    }
    // The members were read one by one, each by its own shape.
    return result as ReadMembers<M>
  }
}
