import type { IncomingMessage } from 'node:http'
import { maxUploadBytes } from '@parley/contract/media'
import { expect, test } from 'vitest'
import { frame } from '../../testing/uploads.ts'
import { maxFileBodyBytes, openFileBody } from './multipart.ts'

/** Receives a file of this size, and returns how much of it was stored. */
function receive(size: number): Promise<number> {
  const piece = Buffer.alloc(1_000_000, 'x')
  async function* body() {
    yield Buffer.from(frame.before)
    for (let sent = 0; sent < size; sent += piece.length) yield piece.subarray(0, Math.min(piece.length, size - sent))
    yield Buffer.from(frame.after)
  }
  const request = { headers: { 'content-type': frame.contentType } } as unknown as IncomingMessage
  return openFileBody(request, body).receive(async ({ bytes }) => {
    let stored = 0
    for await (const each of bytes) stored += each.length
    return stored
  })
}

test('a file of 100,000,000 bytes is accepted, and one more is 413', async () => {
  expect(await receive(maxUploadBytes)).toBe(100_000_000)
  await expect(receive(maxUploadBytes + 1)).rejects.toMatchObject({ code: 'payload_too_large' })
  // The limit of the body includes what is around the file.
  expect(maxFileBodyBytes).toBeGreaterThan(maxUploadBytes + frame.before.length + frame.after.length)
})
