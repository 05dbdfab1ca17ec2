import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HmacKey } from './hmac.ts'

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))

test('sign returns the same as createHmac for any key and message', () => {
  fc.assert(
    fc.property(bytes(200), fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), bytes(5000), (key, start, rest) => {
      const signer = new HmacKey(key)
      for (const encoding of ['hex', 'base64'] as const) {
        const expected = createHmac('sha256', key).update(start).update(rest).digest(encoding)
        expect(signer.sign(start, rest, encoding)).toBe(expected)
        // The shared buffer must not affect the next signature.
        expect(signer.sign(start, rest, encoding)).toBe(expected)
      }
    }),
  )
})

test.each([32 * 1024 - 65, 32 * 1024 - 64, 32 * 1024 - 63, 3_000_000])(
  'sign returns the same as createHmac for a message of %i bytes',
  (size) => {
    const key = Buffer.from('a key')
    const rest = Buffer.alloc(size, 'x')
    expect(new HmacKey(key).sign('', rest, 'hex')).toBe(createHmac('sha256', key).update(rest).digest('hex'))
  },
)
