import { indent } from './markdown.ts'

export interface Schema {
  $ref?: string
  title?: string
  type?: string
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}

export interface FieldsOptions {
  /** The address of the section that describes a component. */
  linkTo(component: string): string
  /** Fields of a request have examples, and say which are required. In a response the others are the exception. */
  isInput: boolean
}

/** The fields of an object as a list in Markdown. Those of nested objects are nested lists, which the pages fold. */
export function fieldList(schema: Schema, options: FieldsOptions): string {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties)
    .map(([name, field]) => fieldItem(name, field, required.includes(name), options))
    .join('\n')
}

export function fieldItem(name: string, field: Schema, isRequired: boolean, options: FieldsOptions): string {
  const shape = shapeOf(field)
  const facts = [typeOf(shape, options), ...limitsOf(shape), !options.isInput && !isRequired && 'optional']
  const mark = options.isInput && isRequired ? ' **required**' : ''
  const text = [shape.description, ...valuesOf(shape, options)].filter(Boolean).join(' ').replaceAll('\n', ' ')
  const nested = nestedOf(shape, options)
  return [
    `- **\`${name}\`** *${facts.filter(Boolean).join(', ')}*${mark}${text && `  \n  ${text}`}`,
    ...(nested === '' ? [] : [indent(nested)]),
  ].join('\n')
}

/** A schema without its null. */
interface Shape extends Schema {
  isNullable: boolean
  variants: readonly Schema[]
}

function shapeOf({ anyOf = [], ...schema }: Schema): Shape {
  const variants = anyOf.filter(({ type }) => type !== 'null')
  const isNullable = variants.length < anyOf.length
  const [only] = variants
  if (variants.length === 1 && only) return { ...shapeOf(only), ...schema, isNullable }
  return { ...schema, isNullable, variants }
}

function typeOf(shape: Shape, options: FieldsOptions): string {
  const name = nameOf(shape, options)
  return shape.isNullable ? `${name} or null` : name
}

function nameOf(shape: Shape, options: FieldsOptions): string {
  const { $ref, type, items, variants } = shape
  if ($ref !== undefined) return options.linkTo($ref.split('/').at(-1) ?? '')
  if (isEvent(shape)) return '[events](/docs/events/types)'
  if (items) return `array of ${nameOf(shapeOf(items), options).replace(/^(\w+)$/, '$1s')}`
  return [...new Set(variants.map((each) => nameOf(shapeOf(each), options)))].join(' or ') || (type ?? 'string')
}

/** The types of events have a dot, and a page of their own. */
const isEvent = ({ variants }: Shape): boolean => variants[0]?.title?.includes('.') ?? false

function limitsOf(shape: Shape): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, default: fallback } = shape
  return [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    format?.replace('-', ' '),
    fallback !== undefined && `default \`${JSON.stringify(fallback).replaceAll('"', '')}\``,
  ].filter((limit) => typeof limit === 'string')
}

function range(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  if (max === undefined) return min === undefined ? undefined : `at least ${min}${unit}`
  return min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`
}

/** Which values a field takes, as far as its type does not say it. */
function valuesOf(shape: Shape, { isInput }: FieldsOptions): string[] {
  const { items, enum: listed, const: fixed, examples = [], pattern, variants } = shape
  const constants = variants.flatMap((each) => (each.const === undefined ? [] : [each.const]))
  const values = listed ?? items?.enum ?? (constants.length > 0 ? constants : undefined)
  if (values) return [`One of ${values.map((value) => `\`${value}\``).join(', ')}.`]
  if (fixed !== undefined) return [`Always \`${fixed}\`.`]
  if (!isInput) return []
  if (examples.length > 0) return [`Example: \`${[examples[0]].flat().join(', ')}\`.`]
  return pattern === undefined ? [] : [`Pattern: \`${pattern}\`.`]
}

function nestedOf(shape: Shape, options: FieldsOptions): string {
  if (isEvent(shape)) return ''
  if (shape.items) return nestedOf(shapeOf(shape.items), options)
  if (shape.properties) return fieldList(shape, options)
  return shape.variants
    .flatMap(({ title, description, ...variant }) =>
      title === undefined
        ? []
        : [`- \`${title}\`${description ? `: ${description}` : ''}\n${indent(fieldList(variant, options))}`],
    )
    .join('\n')
}
