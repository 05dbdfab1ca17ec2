import { MessageId, nullable, Uuid } from '@parley/contract/ids'
import { Scopes } from '@parley/contract/scopes'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { toJsonFor } from './to-json.ts'

const id = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'

test('a response has only the fields of its schema, and text is escaped', () => {
  const toJson = toJsonFor(
    Type.Object({
      id: MessageId,
      of: Type.Object({ id: Uuid, name: Type.String(), code: Type.String({ pattern: '^.*$' }) }),
      scopes: Scopes,
      either: Type.Union([Type.Object({ kind: Type.Literal('a') }), Type.Object({ kind: Type.Literal('b"') })]),
      words: Type.Array(Type.Enum(['plain', 'not "plain"'])),
      none: Type.Union([Uuid, Type.Null()]),
    }),
  )
  const response = {
    id: `msg_${id}`,
    of: { id, name: 'a "name"\\\n', code: '"', secret: 'x' },
    scopes: ['messages:read'],
    either: { kind: 'b"' },
    words: ['not "plain"', 'plain'],
    none: null,
  }
  const { secret: _, ...of } = response.of
  expect(JSON.parse(toJson(response))).toEqual({ ...response, of })
})

test('a field that a stored object lacks is null, or has the default of its schema', () => {
  const Price = Type.Object({
    category: Type.String(),
    model: nullable(Type.String()),
    billable: Type.Boolean({ default: true }),
  })
  const toJson = toJsonFor(
    Type.Object({
      price: nullable(Price),
      id: Uuid,
      kind: nullable(Type.Enum(['a', 'b'])),
      prices: Type.Array(Price),
      more: Type.Optional(nullable(Type.String())),
    }),
  )
  const stored = { category: 'utility' }
  const full = { ...stored, model: null, billable: true }
  // In the order of the schema.
  const response = { price: full, id, kind: null, prices: [full] }
  expect(toJson({ id, price: stored, prices: [stored] })).toBe(JSON.stringify(response))
  expect(JSON.parse(toJson({ id, kind: 'b', prices: [] }))).toEqual({ price: null, id, kind: 'b', prices: [] })
  expect(() => toJson({ price: null, kind: null, prices: [] })).toThrow('"id" is required')
})
