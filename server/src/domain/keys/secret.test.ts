import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf, hintIn, hintOf, isSecret, newSecret, secretOf } from './secret.ts'

fc.configureGlobal({ seed: 20_261_115 })

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** CRC-32 bit by bit, and base62 with big integers: an independent implementation. */
function checksumOf(head: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(head)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let value = BigInt((crc ^ 0xffffffff) >>> 0)
  let text = ''
  while (text.length < 6) {
    text = base62[Number(value % 62n)] + text
    value /= 62n
  }
  return text
}

const randomPart = fc.string({ unit: fc.constantFrom(...base62), minLength: 32, maxLength: 32 })
const secrets = randomPart.map((random) => `prl_live_${random}${checksumOf(`prl_live_${random}`)}`)

test('a key is prl_live_, 32 base62 characters and their checksum', () => {
  for (let round = 0; round < 200; round++) {
    const secret = newSecret()
    expect(secret).toMatch(/^prl_live_[0-9A-Za-z]{38}$/)
    expect(secret.slice(-6)).toBe(checksumOf(secret.slice(0, -6)))
  }
})

test('every key in this format is accepted', () => {
  fc.assert(fc.property(secrets, (secret) => isSecret(secret) && secretOf(`Bearer ${secret}`) === secret))
})

test('a key with one changed character is rejected', () => {
  const other = fc.oneof(
    fc.constantFrom(...base62, '-', '_', ' ', 'é', '０', '𝟘', '\0'),
    fc.nat({ max: 0xff }).map((code) => String.fromCharCode(code)),
  )
  fc.assert(
    fc.property(secrets, fc.nat({ max: 46 }), other, (secret, at, letter) => {
      fc.pre(secret[at] !== letter)
      return !isSecret(secret.slice(0, at) + letter + secret.slice(at + 1))
    }),
    { numRuns: 1000 },
  )
})

test('a key with two adjacent characters swapped, one missing or one added is rejected', () => {
  fc.assert(
    fc.property(secrets, fc.nat({ max: 45 }), fc.constantFrom(...base62), (secret, at, more) => {
      const [a = '', b = ''] = secret.slice(at, at + 2)
      const swapped = secret.slice(0, at) + b + a + secret.slice(at + 2)
      const lost = secret.slice(0, at) + secret.slice(at + 1)
      const added = secret.slice(0, at) + more + secret.slice(at)
      return (a === b || !isSecret(swapped)) && !isSecret(lost) && !isSecret(added)
    }),
    { numRuns: 1000 },
  )
})

test('any other text is rejected', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.base64String({ minLength: 44, maxLength: 52 }),
    randomPart.map((random) => `prl_live_${random}000000`),
  )
  fc.assert(
    fc.property(text, (each) =>
      [each, `Bearer ${each}`].every((header) => !isSecret(each) && secretOf(header) === undefined),
    ),
    { numRuns: 500 },
  )
})

test('the hint shows the first and last four of the 32 random characters', () => {
  fc.assert(
    fc.property(secrets, (secret) => {
      expect(hintOf(secret)).toBe(`prl_live_${secret.slice(9, 13)}...${secret.slice(37, 41)}`)
      expect(Buffer.from(digestOf(secret), 'latin1')).toEqual(createHash('sha256').update(secret).digest())
    }),
    { numRuns: 50 },
  )
})

test('the random characters are evenly distributed', () => {
  const counts = new Map<string, number>()
  const rounds = 2000
  for (let round = 0; round < rounds; round++) {
    for (const letter of newSecret().slice(9, 41)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  const expected = (rounds * 32) / 62
  const chiSquare = [...base62].reduce((sum, letter) => sum + ((counts.get(letter) ?? 0) - expected) ** 2 / expected, 0)
  // 61 degrees of freedom: exceeds 140 once in ten million runs.
  expect(chiSquare).toBeLessThan(140)
})

test('an invalid key has a hint if its random part is complete', () => {
  const secret = newSecret()
  const head = secret.slice(0, -6)
  for (const wrong of [secret, head, `${secret}x`, `${head}-`]) expect(hintIn(`Bearer ${wrong}`)).toBe(hintOf(secret))
  const cut = head.slice(0, -1)
  for (const wrong of [cut, `${cut}-`, `${cut} x`, `${head.slice(0, 20)}-${head.slice(21)}`, 'prl_live_', 'other', ''])
    expect(hintIn(`Bearer ${wrong}`), wrong).toBeNull()
  expect(hintIn(undefined)).toBeNull()
})
