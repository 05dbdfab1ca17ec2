import buildToJson from 'fast-json-stringify'
import type { TSchema } from 'typebox'
import { plain } from './validate.ts'

interface Schema {
  type?: string
  pattern?: string
  enum?: readonly unknown[]
  properties?: Record<string, Schema>
  items?: Schema
}

/** Writes answers as JSON, with the members that the schema names and no others. Compiled at its first use. */
export function toJsonFor(schema: TSchema): (answer: unknown) => string {
  let write: ((answer: unknown) => string) | undefined
  return (answer) => {
    write ??= buildToJson(withoutEscapes(plain(schema) as Schema) as object, { ajv: { formats: { unsafe: true } } })
    return write(answer)
  }
}

/**
 * Ids, and words of a fixed list, hold nothing that JSON would escape, and are not searched for it. What stands in a
 * choice between shapes is left alone: the choice is made by it.
 */
function withoutEscapes(schema: Schema): Schema {
  if (isPlainWord(schema)) return { type: 'string', format: 'unsafe' } as Schema
  const { properties, items } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, withoutEscapes(each)])),
    }),
    ...(items && { items: withoutEscapes(items) }),
  }
}

const idPattern = /^\^(?:[a-z]+_)?\[0-9a-f\]\{8\}[-[\]\w{}]*\$$/

function isPlainWord({ type, pattern, enum: words }: Schema): boolean {
  if (type !== 'string') return false
  return idPattern.test(pattern ?? '') || words?.every((word) => /^[\w:.-]+$/.test(String(word))) === true
}
