/** Converts schemas of the contract to TypeScript declarations with doc comments. */

/** The part of JSON Schema that the contract uses. */
export interface Schema {
  type?: string
  description?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: readonly string[]
  additionalProperties?: unknown
}

/** The declarations of all schemas. A schema inside another is replaced by its name. */
export function declare(schemas: ReadonlyMap<string, Schema>): string[] {
  const names = new Map([...schemas].map(([name, schema]) => [JSON.stringify(schema), name]))
  return [...schemas].map(([name, schema]) => {
    const body = expand(schema, names, '')
    const head = schema.properties ? `export interface ${name} ` : `export type ${name} = `
    return doc(schema.description, '') + head + body
  })
}

export const literals = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(' | ')

function write(schema: Schema, names: ReadonlyMap<string, string>, indent: string): string {
  return names.get(JSON.stringify(schema)) ?? expand(schema, names, indent)
}

function expand(schema: Schema, names: ReadonlyMap<string, string>, indent: string): string {
  if (schema.const !== undefined) return literals([schema.const])
  if (schema.enum) return literals(schema.enum)
  if (schema.anyOf) return schema.anyOf.map((one) => write(one, names, indent)).join(' | ')
  if (schema.properties) return members(schema, names, indent)
  if (schema.patternProperties) {
    const [value = {}] = Object.values(schema.patternProperties)
    return `Record<string, ${write(value, names, indent)}>`
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${write(schema.items ?? {}, names, indent)}>`
    case undefined:
      return 'unknown'
    default:
      throw new Error(`Cannot convert this schema to TypeScript: ${JSON.stringify(schema)}.`)
  }
}

function members(schema: Schema, names: ReadonlyMap<string, string>, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(schema.properties ?? {}).map(([name, value]) => {
    const mark = schema.required?.includes(name) ? '' : '?'
    return `${doc(value.description, inner)}${inner}${name}${mark}: ${write(value, names, inner)}`
  })
  const others = schema.additionalProperties === true ? ' & Record<string, unknown>' : ''
  return `{\n${lines.join('\n')}\n${indent}}${others}`
}

function doc(description: string | undefined, indent: string): string {
  return description ? `${indent}/** ${description.replaceAll('*/', '*\\/')} */\n` : ''
}
