import buildToJson from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { oncePerSchema, plainSchema } from '../lib/field-errors.ts'

/**
 * Serializes a response with only the fields that the schema has.
 *
 * Parts of a response are stored as JSON, and lack the fields that were added to their schema afterwards. Such a field is null,
 * or has the `default` of its schema: give it one if it cannot be null.
 */
export const toJsonFor =
  (schema: TSchema) =>
  (response: unknown): string =>
    compile(schema)(response)

const compile = oncePerSchema((schema): ((response: unknown) => string) =>
  buildToJson(JSON.parse(JSON.stringify(plainSchema(schema)), nullByDefault) as object),
)

interface Part {
  anyOf?: Part[]
  type?: unknown
  nullable?: boolean
  default?: unknown
  properties?: Record<string, Part>
  required?: string[]
}

/**
 * A reviver for schemas: required fields that may be null get that as their default. A union with null becomes `nullable`,
 * because to choose from a union, the serializer requires every field of an object.
 */
function nullByDefault(_key: string, value: unknown): unknown {
  const part = (value ?? {}) as Part
  if (Array.isArray(part.anyOf)) {
    const [other, ...more] = part.anyOf.filter(({ type }) => type !== 'null')
    if (more.length > 0 || part.anyOf.length === 1 || typeof other?.type !== 'string') return value
    const { anyOf: _, ...rest } = part
    return { ...rest, ...other, nullable: true }
  }
  for (const name of Array.isArray(part.required) ? part.required : []) {
    const field = part.properties?.[name]
    if (field?.nullable || field?.anyOf?.some(({ type }) => type === 'null')) field.default ??= null
  }
  return value
}
