import { globSync } from 'node:fs'
import { join } from 'node:path'
import { Moment, Recipient } from '@parley/contract/formats'
import { nullable } from '@parley/contract/ids'
import { SendRequest } from '@parley/contract/send'
import { interactiveSchemas } from '@parley/contract/send-interactive'
import { type TSchema, Type } from 'typebox'
import { expect, test } from 'vitest'
import { routes } from '../api.ts'
import { newValidator, textErrors } from './field-errors.ts'

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
  ['pattern', Type.String({ pattern: '^a' }), 'b', 'invalid', '"x" is not in the required format.'],
  [
    'pattern',
    Type.String({ pattern: '^a', examples: ['ab'] }),
    'b',
    'invalid',
    '"x" is not in the required format, for example ab.',
  ],
  ['format', Moment, '2026-02-30T00:00:00Z', 'invalid', (Moment as { errorMessage?: string }).errorMessage as string],
  ['minItems', Type.Array(word, { minItems: 1 }), [], 'too_few', '"x" must not be empty.'],
  ['minItems', Type.Array(word, { minItems: 2 }), ['a'], 'too_few', '"x" must have at least 2 entries.'],
  ['maxItems', Type.Array(word, { maxItems: 1 }), ['a', 'b'], 'too_many', '"x" must have at most 1 entry.'],
  ['minProperties', Type.Object({}, { minProperties: 1 }), {}, 'too_few', '"x" must not be empty.'],
  ['minimum', Type.Integer({ minimum: 1 }), 0, 'out_of_range', '"x" must be at least 1.'],
  ['maximum', Type.Integer({ maximum: 5 }), 6, 'out_of_range', '"x" must be at most 5.'],
  ['maximum', Type.Integer({ minimum: 1, maximum: 5 }), 6, 'out_of_range', '"x" must be from 1 to 5.'],
  ['anyOf', Type.Union([Type.Literal(0), Type.Literal(24)]), 1, 'invalid', '"x" must be one of 0, 24.'],
  ['anyOf', Type.Union([word, Type.Integer()]), true, 'invalid', '"x" is not in any of the allowed formats.'],
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

test('an invalid phone number gets a plain message', () => {
  expect(newValidator(Type.Object({ to: Recipient }), 'body')({ to: '0170' })).toEqual([
    { param: 'to', code: 'invalid', message: expect.stringMatching(/^Enter the phone number in international format/) },
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
  ])
})

test('every format in a request has an error message or an example', () => {
  const bare: unknown[] = []
  const requests = [
    ...routes.flatMap(({ query, body }) => [query, body]),
    SendRequest,
    ...Object.values(interactiveSchemas),
  ]
  for (const each of requests) {
    visit(each, ({ pattern, format, errorMessage, examples }) => {
      if ((pattern ?? format) && !errorMessage && !examples) bare.push(pattern ?? format)
    })
  }
  expect(bare).toEqual([])
})

type Node = Record<string, unknown>

const types = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']

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
