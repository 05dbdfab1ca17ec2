import { globSync } from 'node:fs'
import { join } from 'node:path'
import { Moment, Recipient } from '@parley/contract/formats'
import { nullable } from '@parley/contract/ids'
import { SendRequest } from '@parley/contract/send'
import { interactiveSchemas } from '@parley/contract/send-interactive'
import { Ajv } from 'ajv'
import { type TSchema, Type } from 'typebox'
import { expect, test } from 'vitest'
import { routes } from '../api.ts'
import { consoleRoutes } from '../console.ts'
import type { Runtime } from '../runtime.ts'
import { newValidator, plainSchema } from './field-errors.ts'
import { textErrors } from './text-errors.ts'

const contract = join(import.meta.dirname, '..', '..', '..', 'contract', 'src')

/** Keywords that describe a schema or contain others, and reject no value. */
const silent = ['$id', 'title', 'description', 'examples', 'default', 'errorMessage', 'properties', 'items']
const word = Type.String({ minLength: 1, maxLength: 5 })
const link = Type.String({ pattern: '^http', errorMessage: 'Enter a link.' })

/** The schema of the field `x`, an invalid value, and the expected code and message. */
const cases: [keyword: string, x: TSchema, value: unknown, code: string, message: string][] = [
  ['type', Type.String(), 1, 'wrong_type', '"x" must be a string.'],
  ['type', Type.Integer(), 1.5, 'wrong_type', '"x" must be a whole number.'],
  ['type', Type.Number(), '1', 'wrong_type', '"x" must be a number.'],
  ['type', Type.Boolean(), 'yes', 'wrong_type', '"x" must be true or false.'],
  ['type', Type.Object({}), [], 'wrong_type', '"x" must be an object.'],
  ['type', Type.Array(word), {}, 'wrong_type', '"x" must be an array.'],
  ['type', Type.Null(), 1, 'wrong_type', '"x" must be null.'],
  ['enum', Type.Enum(['a', 'b']), 'c', 'invalid', '"x" must be one of a, b.'],
  ['enum', Type.String({ enum: ['a', 'b'] }), 1, 'wrong_type', '"x" must be a string.'],
  ['const', Type.Literal('a'), 'b', 'invalid', '"x" must be "a".'],
  ['const', Type.Literal('a'), 1, 'wrong_type', '"x" must be a string.'],
  ['minLength', word, '', 'too_short', '"x" must not be empty.'],
  ['minLength', Type.String({ minLength: 3 }), 'ab', 'too_short', '"x" must be at least 3 characters.'],
  ['maxLength', word, '123456', 'too_long', '"x" must be at most 5 characters.'],
  ['pattern', link, 'x', 'invalid', 'Enter a link.'],
  ['pattern', link, 1, 'wrong_type', '"x" must be a string.'],
  ['pattern', Type.String({ pattern: '^a' }), 'b', 'invalid', '"x" is not valid.'],
  ['format', Moment, '2026-02-30T00:00:00Z', 'invalid', 'Enter a date and time such as 2026-11-16T09:00:00Z.'],
  ['pattern', Moment, '16.11.2026 09:00', 'invalid', 'Enter a date and time such as 2026-11-16T09:00:00Z.'],
  ['minItems', Type.Array(word, { minItems: 1 }), [], 'too_few', '"x" must not be empty.'],
  ['minItems', Type.Array(word, { minItems: 2 }), ['a'], 'too_few', '"x" must have at least 2 entries.'],
  ['maxItems', Type.Array(word, { maxItems: 1 }), ['a', 'b'], 'too_many', '"x" must have at most 1 entry.'],
  ['minProperties', Type.Object({}, { minProperties: 1 }), {}, 'too_few', '"x" must not be empty.'],
  ['minimum', Type.Integer({ minimum: 1 }), 0, 'out_of_range', '"x" must be at least 1.'],
  ['maximum', Type.Integer({ maximum: 5 }), 6, 'out_of_range', '"x" must be at most 5.'],
  ['maximum', Type.Integer({ minimum: 1, maximum: 5 }), 6, 'out_of_range', '"x" must be from 1 to 5.'],
  ['anyOf', Type.Union([Type.Literal(0), Type.Literal(24)]), 1, 'invalid', '"x" must be one of 0, 24.'],
  ['anyOf', Type.Union([word, Type.Integer()]), true, 'invalid', '"x" is not valid.'],
  ['anyOf', nullable(word), '', 'too_short', '"x" must not be empty.'],
  ['anyOf', nullable(word), 1, 'wrong_type', '"x" must be a string.'],
]

test.each(cases)('%s: %j with %j is %s', (_keyword, schema, value, code, message) => {
  const validate = newValidator(Type.Object({ x: schema }, { additionalProperties: false }), 'body')
  expect(validate({ x: value })).toEqual([{ param: 'x', code, message }])
})

test('missing and unknown fields are reported by their path', () => {
  const inner = Type.Object({ y: word }, { additionalProperties: false })
  const schema = Type.Object({ list: Type.Array(inner) }, { additionalProperties: false })
  expect(newValidator(schema, 'body')({ list: [{ 'a/b~c': 1 }] })).toEqual([
    { param: 'list.0.y', code: 'missing', message: '"list.0.y" is required.' },
    { param: 'list.0.a/b~c', code: 'unknown', message: '"list.0.a/b~c" is not a known field.' },
  ])
  expect(newValidator(inner, 'query')({ y: 'a', z: '1' })).toEqual([
    { param: 'z', code: 'unknown', message: '"z" is not a known parameter.' },
  ])
  expect(newValidator(inner, 'body', 'part')({})).toMatchObject([{ param: 'part.y', code: 'missing' }])
  expect(newValidator(inner, 'body')(null)).toEqual([
    { param: 'body', code: 'wrong_type', message: 'The request body must be an object.' },
  ])
})

test('textErrors gives the same messages as a schema', () => {
  const validate = newValidator(Type.Object({ x: word }), 'body')
  for (const x of ['', 'a', '12345', '123456', '😀'.repeat(5), '😀'.repeat(6)]) {
    expect(textErrors('x', x, 5), x).toEqual(validate({ x }))
  }
})

test.each(['0170', '+1 650 555 0123'])('an invalid phone number gets a plain message: %s', (to) => {
  const message = 'Enter a phone number with its country code, as digits without spaces, such as 491701234567.'
  expect(newValidator(Type.Object({ to: Recipient }), 'body')({ to })).toEqual([
    { param: 'to', code: 'invalid', message },
  ])
})

test('every keyword of the contract is in the table above', async () => {
  const used = new Set<string>()
  for (const file of globSync(join(contract, '**', '*.ts')).filter((each) => !each.endsWith('.test.ts'))) {
    for (const each of Object.values(await import(file))) {
      visit(each, (schema) => {
        for (const key of Object.keys(schema)) used.add(key)
      })
    }
  }
  const tested = new Set(cases.map(([keyword]) => keyword)).union(new Set(['required', 'additionalProperties']))
  expect(used.size).toBeGreaterThan(15)
  expect([...used].filter((key) => !tested.has(key) && !silent.includes(key) && !key.startsWith('~'))).toEqual([
    // A record's fields; their names are not restricted.
    'patternProperties',
    // Only describes a file.
    'contentMediaType',
  ])
})

/** The schema of every value in the query or the body of a request, once, with a route that has it. */
function requestSchemas(): Map<string, { schema: Node; place: string }> {
  const found = new Map<string, { schema: Node; place: string }>()
  const add = (root: unknown, place: string) =>
    visit(root, (schema) => found.set(JSON.stringify(schema), { schema, place }))
  // The handlers of the console's routes need the runtime, their schemas do not.
  for (const { method, path, query, body } of [...routes, ...consoleRoutes({} as Runtime)]) {
    add(query, `${method} ${path}`)
    add(body, `${method} ${path}`)
  }
  for (const each of [SendRequest, ...Object.values(interactiveSchemas)]) add(each, 'POST /v1/messages')
  return found
}

test('every pattern and format in a request has a message with an example that is accepted', () => {
  let checked = 0
  for (const { schema, place } of requestSchemas().values()) {
    if (!schema.pattern && !schema.format) continue
    const validate = newValidator(Type.Object({ x: Type.Unsafe(schema) }), 'body')
    const [error, ...more] = validate({ x: '?' })
    expect([error?.code, more], `${place} ${schema.pattern}`).toEqual(['invalid', []])
    expect(error?.message, place).toMatch(/^Enter an? .+ (such as|that starts with) .+\.$/)
    const examples =
      error?.message
        .split(/such as |starts with /)[1]
        ?.slice(0, -1)
        .split(' or ') ?? []
    const accepted = examples.filter((x) => validate({ x: x.endsWith('://') ? `${x}example.com` : x }).length === 0)
    expect(accepted, place).toEqual(examples)
    checked += examples.length
  }
  expect(checked).toBeGreaterThan(10)
})

test('no message about a request has words of its schema', () => {
  const values = [
    null,
    true,
    '',
    '?',
    'x'.repeat(70_000),
    -1,
    0.5,
    1e12,
    [],
    ['?'],
    Array(300).fill('?'),
    {},
    { '?': 1 },
  ]
  const messages = new Set<string>()
  const shallow = [...requestSchemas().values()].map(({ schema }) => withoutParts(schema))
  for (const schema of new Map(shallow.map((each) => [JSON.stringify(each), each])).values()) {
    const validate = newValidator(Type.Object({ x: Type.Unsafe(schema) }), 'body')
    for (const x of values) for (const { message } of validate({ x })) messages.add(message)
  }
  expect(messages.size).toBeGreaterThan(50)
  const jargon = /\b(pattern|format|formats|schema|regex|keyword|anyOf|const|enum|ISO|undefined)\b|[\^\\]/
  expect([...messages].filter((text) => jargon.test(text))).toEqual([])
})

test('a schema with an unknown format fails instead of being checked without it', () => {
  const unknown = Type.Object({ link: Type.String({ format: 'uri' }) })
  for (const source of ['params', 'query', 'body'] as const) {
    expect(() => newValidator(unknown, source)({})).toThrow('unknown format "uri"')
  }
  // The tests above compile the schemas of all queries and bodies.
  for (const { params } of [...routes, ...consoleRoutes({} as Runtime)]) if (params) newValidator(params, 'params')({})
})

test('every schema of a request is a valid JSON Schema', () => {
  const ajv = new Ajv({ strict: false })
  for (const { method, path, params, query, body } of [...routes, ...consoleRoutes({} as Runtime)]) {
    for (const schema of [params, query, body]) {
      if (schema) expect(ajv.validateSchema(plainSchema(schema)), `${method} ${path}`).toBe(true)
    }
  }
})

type Node = Record<string, unknown>

const types = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']

/** A schema without the schemas of its fields and entries. */
function withoutParts(schema: Node): Node {
  const names = Object.keys((schema.properties as object | undefined) ?? {})
  return {
    ...schema,
    ...(schema.properties ? { properties: Object.fromEntries(names.map((name) => [name, {}])) } : {}),
    ...(schema.items ? { items: {} } : {}),
  }
}

/** Visits all schemas in a value. */
function visit(value: unknown, see: (schema: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  const node = value as Node
  const isSchema = types.includes(String(node.type)) || Array.isArray(node.anyOf) || Array.isArray(node.enum)
  if (isSchema) see(node)
  for (const [key, inner] of Object.entries(node)) {
    if (!isSchema || ['properties', 'patternProperties', 'items', 'anyOf'].includes(key)) visit(inner, see)
  }
}
