import { Uuid } from '@parley/contract/ids'
import { PageQuery } from '@parley/contract/page'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { isSecret, secretOf } from '../domain/keys/secret.ts'
import { isUuid, withoutPrefix } from '../lib/ids.ts'
import { Refusal } from '../lib/refuse.ts'
import { canonicalAddress, readRange } from '../net/addresses.ts'
import { parseJson } from './json-body.ts'
import { readPage } from './page.ts'
import { checkFor } from './validate.ts'

/** Texts of the given length that make careless regular expressions backtrack. */
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
 * Four times the input may take about four times as long; quadratic code takes sixteen times as long. Anything below
 * 100 ms is fast enough, and too short to compare.
 */
function expectNoWorseThanLinear(name: string, work: (length: number) => void, length: number): void {
  const bestOf3 = (size: number) => {
    const times = [1, 2, 3].map(() => {
      // Not the duration: the machine may be busy.
      const before = process.threadCpuUsage()
      work(size)
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / 1000
    })
    return Math.min(...times)
  }
  const total = bestOf3(length)
  if (total > 100) expect(total / bestOf3(length / 4), name).toBeLessThan(10)
}

const refusalOf = (work: () => unknown) => {
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
])('%s of 48 kB is validated in linear time', (_name, validator) => {
  for (const [index, textOf] of adversarial.entries()) {
    expectNoWorseThanLinear(`text ${index}`, (length) => refusalOf(() => validator(textOf(length))), 48_000)
  }
})

test('a body with 20,000 errors is validated in linear time, and 20 errors are reported', () => {
  const hostile = (places: number) => ({ list: Array.from({ length: places }, () => ({})) })
  expect((refusalOf(() => body(hostile(20_000))) as Refusal).parts.errors).toHaveLength(20)
  expectNoWorseThanLinear('places', (places) => refusalOf(() => body(hostile(places))), 20_000)
})

test('a value that matches no branch of a union gets one error', () => {
  const refusal = refusalOf(() => body({ list: [{ a: 1 }, { a: 'x' }] })) as Refusal
  expect(refusal.parts.errors).toEqual([{ param: 'list.1', code: 'invalid', message: '"list.1" is not valid.' }])
})
