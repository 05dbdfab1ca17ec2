import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { readRequest } from './fetch.ts'
import { readNodeBody } from './node-body.ts'
import { BodyTooLarge } from './receive.ts'

const text = 'abcdefghij'.repeat(1000)

/** The bytes of a text one by one, always in the same array, so a reader that keeps a reference to it fails. */
function* oneByOne(): Generator<Uint8Array> {
  const piece = new Uint8Array(1)
  for (const byte of new TextEncoder().encode(text)) {
    piece[0] = byte
    yield piece
  }
}

const readers: [name: string, read: (maxBytes: number) => Promise<Uint8Array>][] = [
  [
    'a Node request',
    (maxBytes) => {
      const body = new EventEmitter()
      const read = readNodeBody(body, maxBytes)
      for (const piece of oneByOne()) body.emit('data', piece)
      body.emit('end')
      return read
    },
  ],
  [
    'a fetch request',
    (maxBytes) => {
      const pieces = oneByOne()
      const pull = (controller: ReadableStreamDefaultController) => {
        const { done, value } = pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      }
      const body = new ReadableStream({ pull }, { highWaterMark: 0 })
      const init = { method: 'POST', body, duplex: 'half' } as RequestInit
      return readRequest(new Request('http://x', init), maxBytes)
    },
  ],
]

test.each(readers)('%s in one-byte chunks is read without keeping the chunks', async (_name, read) => {
  expect(new TextDecoder().decode(await read(text.length))).toBe(text)
})

test.each(readers)('%s that is too large is rejected', async (_name, read) => {
  await expect(read(text.length - 1)).rejects.toThrow(BodyTooLarge)
})
