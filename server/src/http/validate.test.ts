import { Uuid } from '@parley/contract/ids'
import { PageQuery } from '@parley/contract/page'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { isSecret, secretOf } from '../domain/keys/secret.ts'
import { canonicalAddress, readRange } from '../lib/addresses.ts'
import { isUuid, withoutPrefix } from '../lib/ids.ts'
import { Refusal } from '../lib/refuse.ts'
import { parseJson } from './json-body.ts'
import { readPage } from './page.ts'
import { checkFor } from './validate.ts'

/** 50 kB each, of what makes careless patterns try again and again. */
const adversarial = [
  'a'.repeat(50_000),
  ' '.repeat(50_000),
  `Bearer ${' '.repeat(50_000)}`,
  `Bearer ${'a'.repeat(50_000)} `,
  `prl_live_${'0'.repeat(50_000)}!`,
  `${'0-'.repeat(25_000)}g`,
  `${'1.'.repeat(25_000)}`,
  `${':'.repeat(50_000)}`,
  `${'0:'.repeat(25_000)}`,
  `${'/'.repeat(50_000)}`,
  `${'%'.repeat(50_000)}`,
  `${'\\'.repeat(50_000)}"`,
  `${'[{"a":'.repeat(8_000)}`,
  `"${'\\u0000'.repeat(8_000)}`,
  `${'9'.repeat(50_000)}.${'a'.repeat(36)}`,
  `${'=, '.repeat(16_000)}`,
]

const quiet = (work: () => unknown) => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error
  }
}

const nested = Type.Object(
  {
    list: Type.Optional(
      Type.Array(Type.Union([Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.String() })])),
    ),
    id: Type.Optional(Uuid),
  },
  { additionalProperties: false },
)
const body = checkFor('body', nested)
const query = checkFor('query', PageQuery)

test.each<[name: string, validator: (text: string) => unknown]>([
  ['the Authorization header', secretOf],
  ['a key', isSecret],
  ['an address', canonicalAddress],
  ['a range', readRange],
  ['a UUID', isUuid],
  ['an id', (text) => withoutPrefix('msg', text)],
  ['a cursor', (text) => readPage({ cursor: text })],
  ['a cursor in base64', (text) => readPage({ cursor: Buffer.from(text).toString('base64url') })],
  ['a query', (text) => query({ limit: text, cursor: text, [text]: text })],
  ['a body’s id', (text) => body({ id: text })],
  ['a body’s name', (text) => body({ [text]: 1 })],
  ['JSON', (text) => parseJson(Buffer.from(text))],
])('%s of 50 kB is judged in less than 10 ms', (_name, validator) => {
  for (const text of adversarial) {
    let best = Number.POSITIVE_INFINITY
    // The best of a few: the machine may be busy with something else.
    for (let round = 0; round < 5 && best >= 10; round++) {
      const start = performance.now()
      quiet(() => validator(text))
      best = Math.min(best, performance.now() - start)
    }
    expect(best, text.slice(0, 20)).toBeLessThan(10)
  }
})

test('a body with a fault in each of 20,000 places is judged in reasonable time', () => {
  const hostile = { list: Array.from({ length: 20_000 }, () => ({})) }
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const start = performance.now()
    const refusal = quiet(() => body(hostile))
    best = Math.min(best, performance.now() - start)
    expect((refusal as Refusal).parts.errors).toHaveLength(20)
  }
  expect(best).toBeLessThan(250)
})

test('of a choice between shapes the choice is told, not each shape’s complaint', () => {
  const refusal = quiet(() => body({ list: [{ a: 1 }, { a: 'x' }] })) as Refusal
  expect(refusal.parts.errors).toEqual([
    { param: 'list.1', code: 'invalid', message: '"list.1" does not have one of the allowed shapes.' },
  ])
})
