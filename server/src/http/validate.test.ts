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

/** As long as it says, of what makes careless patterns try again and again. */
const adversarial: ((length: number) => string)[] = [
  (length) => 'a'.repeat(length),
  (length) => ' '.repeat(length),
  (length) => `Bearer ${' '.repeat(length)}`,
  (length) => `Bearer ${'a'.repeat(length)} `,
  (length) => `prl_live_${'0'.repeat(length)}!`,
  (length) => `${'0-'.repeat(length / 2)}g`,
  (length) => '1.'.repeat(length / 2),
  (length) => ':'.repeat(length),
  (length) => '0:'.repeat(length / 2),
  (length) => '/'.repeat(length),
  (length) => '%'.repeat(length),
  (length) => `${'\\'.repeat(length)}"`,
  (length) => '[{"a":'.repeat(length / 6),
  (length) => `"${'\\u0000'.repeat(length / 6)}`,
  (length) => `${'9'.repeat(length)}.${'a'.repeat(36)}`,
  (length) => '=, '.repeat(length / 3),
]

/**
 * Four times as much to look at takes about four times as long, where careless code takes sixteen times. What takes less
 * than a tenth of a second is quick enough, and too short to be compared.
 */
function expectNoWorseThanLinear(name: string, work: (length: number) => void, length: number): void {
  const best = (some: number) => {
    const times = [1, 2, 3].map(() => {
      const start = performance.now()
      work(some)
      return performance.now() - start
    })
    return Math.min(...times)
  }
  const whole = best(length)
  if (whole > 100) expect(whole / best(length / 4), name).toBeLessThan(10)
}

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
])('%s of 48 kB is judged in time that grows with its length alone', (_name, validator) => {
  for (const [index, textOf] of adversarial.entries()) {
    expectNoWorseThanLinear(`text ${index}`, (length) => quiet(() => validator(textOf(length))), 48_000)
  }
})

test('of a body with a fault in each of 20,000 places twenty are told, in time that grows with their number alone', () => {
  const hostile = (places: number) => ({ list: Array.from({ length: places }, () => ({})) })
  expect((quiet(() => body(hostile(20_000))) as Refusal).parts.errors).toHaveLength(20)
  expectNoWorseThanLinear('places', (places) => quiet(() => body(hostile(places))), 20_000)
})

test('of a choice between shapes the choice is told, not each shape’s complaint', () => {
  const refusal = quiet(() => body({ list: [{ a: 1 }, { a: 'x' }] })) as Refusal
  expect(refusal.parts.errors).toEqual([
    { param: 'list.1', code: 'invalid', message: '"list.1" does not have one of the allowed shapes.' },
  ])
})
