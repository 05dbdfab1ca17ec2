import { expect, test } from 'vitest'
import { Copies, type Copy } from './copies.ts'
import { digestOf } from './secret.ts'

const copyOf = (digest: string, revision = 1): Copy => ({ digest, revision, access: null })

test('a copy is found by its whole digest, and the newest of a key counts', () => {
  const copies = new Copies()
  const digests = Array.from({ length: 1000 }, (_, index) => digestOf(`key ${index}`))
  copies.put(
    digests.map((digest) => copyOf(digest)),
    5000,
  )
  copies.put([copyOf(digests[7] as string, 2)], 5000)
  expect(digests.map((digest) => copies.get(digest)?.revision)).toEqual(
    digests.map((_, index) => (index === 7 ? 2 : 1)),
  )
  expect(copies.get(digestOf('another'))).toBeUndefined()
})

test('of two digests that begin alike neither is taken for the other', () => {
  const copies = new Copies()
  const [one, other] = ['a', 'b'].map((end) => `${digestOf('key').slice(0, 31)}${end}`) as [string, string]
  copies.put([copyOf(one)], 10)
  expect(copies.get(other)).toBeUndefined()
  copies.put([copyOf(other)], 10)
  expect([copies.get(one), copies.get(other)]).toEqual([undefined, copyOf(other)])
})

test('the oldest are forgotten', () => {
  const copies = new Copies()
  const digests = Array.from({ length: 20 }, (_, index) => digestOf(`key ${index}`))
  for (const digest of digests) copies.put([copyOf(digest)], 8)
  expect(digests.filter((digest) => copies.get(digest))).toEqual(digests.slice(-8))
})
