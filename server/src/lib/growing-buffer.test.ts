import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GrowingBuffer } from './growing-buffer.ts'

const collected = (buffer: GrowingBuffer, pieces: readonly Uint8Array[]): Buffer => {
  for (const piece of pieces) buffer.append(Buffer.from(piece))
  return buffer.bytes
}

test('chunks of any size are joined in order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 3000 })), fc.option(fc.nat(5000)), (pieces, expected) => {
      const buffer = new GrowingBuffer(1 << 20, expected ?? undefined)
      expect(collected(buffer, pieces).equals(Buffer.concat(pieces))).toBe(true)
      expect(buffer.size).toBe(buffer.bytes.length)
    }),
  )
})

test('a single chunk is not copied', () => {
  const piece = Buffer.from('{"a":1}')
  const buffer = new GrowingBuffer(100)
  buffer.append(piece)
  expect(buffer.bytes).toBe(piece)
})

test('appending does not change the first chunk', () => {
  const first = Buffer.from('abc').subarray(0, 2)
  const buffer = new GrowingBuffer(100)
  buffer.append(first)
  buffer.append(Buffer.from('x'))
  expect([buffer.bytes.toString(), first.toString()]).toEqual(['abx', 'ab'])
})

test('capacityWith predicts the capacity, which is at most twice the size and never above the maximum', () => {
  const max = 10_000
  const buffer = new GrowingBuffer(max)
  for (let size = 1; size <= max; size++) {
    const announced = buffer.capacityWith(1)
    buffer.append(Buffer.from('x'))
    if (buffer.capacity !== announced || buffer.capacity > Math.min(max, Math.max(2 * size, 1024))) {
      expect.unreachable(`at ${size} bytes the capacity is ${buffer.capacity}, and ${announced} was announced`)
    }
  }
  expect(buffer.size).toBe(max)
})

test('an expected size is not allocated up front and is not exceeded', () => {
  const buffer = new GrowingBuffer(1 << 20, 3000)
  collected(buffer, [Buffer.from('a'), Buffer.from('b')])
  expect(buffer.capacity).toBe(1024)
  buffer.append(Buffer.alloc(2000))
  buffer.append(Buffer.alloc(998))
  expect([buffer.size, buffer.capacity]).toEqual([3000, 3000])
})
