import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Malformed, ResponseReader } from './response-reader.ts'

/** Reads a response that arrives in chunks, split at these offsets. */
function read(text: string, cuts: readonly number[] = [], ends = false) {
  const bytes = Buffer.from(text, 'latin1')
  const reader = new ResponseReader()
  let from = 0
  for (const cut of [...cuts.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    reader.read(bytes.subarray(from, cut))
    from = cut
  }
  if (ends) reader.end()
  const { status, isOver, isReusable } = reader
  return { status, isOver, isReusable, body: reader.body.toString('latin1') }
}

const reusable = { isOver: true, isReusable: true }
const notReusable = { isOver: true, isReusable: false }

test.each<[name: string, response: string, expected: object]>([
  ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', { status: 200, ...reusable, body: 'ok' }],
  ['with length 0', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', { status: 200, ...reusable, body: '' }],
  ['without a reason phrase', 'HTTP/1.1 202\r\ncontent-length: 0\r\n\r\n', { status: 202, ...reusable }],
  ['with status 204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, ...reusable }],
  ['with status 304', 'HTTP/1.1 304 x\r\ncontent-length: 9\r\n\r\n', { status: 304, ...reusable }],
  [
    'in chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n',
    { status: 200, ...reusable, body: 'abc0123456789' },
  ],
  [
    'after informational responses',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 1\r\n\r\n!',
    { status: 500, ...reusable, body: '!' },
  ],
  [
    'that closes the connection',
    'HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 2\r\n\r\nok',
    { status: 200, ...notReusable },
  ],
  ['with HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', { status: 200, ...notReusable }],
  [
    'with more bytes than its length',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP',
    { status: 200, ...notReusable },
  ],
  [
    'with two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok',
    { isOver: false, isReusable: false },
  ],
  [
    'with a length that is not a number',
    'HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\nok',
    { isOver: false, isReusable: false },
  ],
  [
    'with a length and in chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    { status: 200, ...notReusable, body: 'ok' },
  ],
  ['in invalid chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', { status: 200, ...notReusable }],
  [
    'with a folded header',
    'HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n',
    { status: 200, ...notReusable },
  ],
  ['that switches protocols', 'HTTP/1.1 101 Switching\r\n\r\n', { status: 101, isOver: false, isReusable: false }],
])('reads a response %s', (_name, response, expected) => {
  expect(read(response)).toMatchObject(expected)
})

test('a response without a length ends with the connection', () => {
  const response = 'HTTP/1.1 200 OK\r\n\r\nsome'
  expect(read(response)).toMatchObject({ status: 200, isOver: false, body: 'some' })
  expect(read(response, [], true)).toMatchObject({ status: 200, ...notReusable, body: 'some' })
})

test.each(['', 'HTTP/1.1 200 OK\r\ncontent-le'])(
  'a connection that ends within the head (%j) is malformed',
  (start) => {
    expect(() => read(start, [], true)).toThrow(Malformed)
  },
)

test.each(['SSH-2.0-OpenSSH\r\n\r\n', 'HTTP/2 200\r\n\r\n', 'HTTP/1.1 20 OK\r\n\r\n', '\r\n\r\n'])(
  '%j is malformed',
  (text) => {
    expect(() => read(text)).toThrow(Malformed)
  },
)

test('only the first 16 KiB of a body are read, without waiting for the rest', () => {
  const start = 'HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n'
  expect(read(`${start}${'x'.repeat(16 * 1024)}`)).toMatchObject({ isOver: false })
  expect(read(`${start}${'x'.repeat(16 * 1024 + 1)}`)).toMatchObject({ ...notReusable, body: 'x'.repeat(16 * 1024) })
})

const informational = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n'
const end = 'content-length: 0\r\n\r\n'
const padding = (bytes: number) => `a: ${'b'.repeat(bytes - 3)}`

test.each<[what: string, within: string, beyond: string]>([
  [
    '16 informational responses',
    `${informational.repeat(16)}HTTP/1.1 200 OK\r\n${end}`,
    `${informational.repeat(17)}HTTP/1.1 200 OK\r\n${end}`,
  ],
  [
    '256 headers',
    `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(255)}${end}`,
    `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(256)}${end}`,
  ],
  [
    '256 headers in an informational response',
    `HTTP/1.1 103 x\r\n${'a: b\r\n'.repeat(256)}\r\nHTTP/1.1 200 OK\r\n${end}`,
    `HTTP/1.1 103 x\r\n${'a: b\r\n'.repeat(257)}\r\nHTTP/1.1 200 OK\r\n${end}`,
  ],
  [
    '16 KiB of headers',
    `HTTP/1.1 200 OK\r\n${padding(16_000)}\r\n${end}`,
    `HTTP/1.1 200 OK\r\n${padding(16_384)}\r\n${end}`,
  ],
  [
    '16 KiB before the body, informational responses included',
    `HTTP/1.1 103 x\r\n${padding(8_000)}\r\n\r\nHTTP/1.1 200 OK\r\n${padding(8_000)}\r\n${end}`,
    `HTTP/1.1 103 x\r\n${padding(8_200)}\r\n\r\nHTTP/1.1 200 OK\r\n${padding(8_200)}\r\n${end}`,
  ],
])('%s are read, but no more', (_name, within, beyond) => {
  expect(read(within)).toMatchObject({ status: 200, ...reusable })
  expect(() => read(beyond)).toThrow(Malformed)
})

const chunks = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const extended = `1;${'x'.repeat(1_000)}\r\na\r\n`

test.each<[what: string, within: string, beyond: string]>([
  ['chunk extensions', `${chunks}${extended.repeat(16)}0\r\n\r\n`, `${chunks}${extended.repeat(17)}`],
  ['lines of chunks', `${chunks}${'1\r\na\r\n'.repeat(255)}0\r\n\r\n`, `${chunks}${'1\r\na\r\n'.repeat(257)}`],
  ['lines of trailers', `${chunks}0\r\n${'a: b\r\n'.repeat(510)}\r\n`, `${chunks}0\r\n${'a: b\r\n'.repeat(512)}`],
])('a limited amount of %s is read, but no more; the status counts', (_name, within, beyond) => {
  expect(read(within)).toMatchObject({ status: 200, ...reusable })
  expect(read(beyond)).toMatchObject({ status: 200, ...notReusable })
})

test('idleMs is the timeout of the Keep-Alive header', () => {
  const reader = new ResponseReader()
  reader.read(Buffer.from('HTTP/1.1 200 OK\r\nKeep-Alive: max=3, timeout=5\r\ncontent-length: 0\r\n\r\n'))
  expect(reader.idleMs).toBe(5000)
})

const responses = fc.record({
  status: fc.constantFrom(200, 204, 302, 404, 500),
  body: fc.uint8Array({ maxLength: 3000 }),
  parts: fc.integer({ min: 0, max: 4 }),
})

test('reads every response of a real server, however it is split into chunks', async () => {
  let respond: (response: ServerResponse) => void = () => {}
  const server = createServer((_request, response) => respond(response)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const fetchRaw = () =>
    new Promise<string>((resolve) => {
      let received = ''
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
      )
      socket.setEncoding('latin1').on('data', (piece: string) => {
        received += piece
        const reader = new ResponseReader()
        reader.read(Buffer.from(received, 'latin1'))
        if (reader.isOver) resolve(received)
        if (reader.isOver) socket.destroy()
      })
    })
  await fc.assert(
    fc.asyncProperty(responses, fc.array(fc.nat(5000), { maxLength: 6 }), async ({ status, body, parts }, cuts) => {
      const bytes = status === 204 ? Buffer.alloc(0) : Buffer.from(body)
      respond = (response) => {
        response.writeHead(status, parts === 0 ? { 'content-length': bytes.length } : {})
        const step = Math.ceil(bytes.length / Math.max(1, parts)) || 1
        for (let at = 0; at < bytes.length; at += step) response.write(bytes.subarray(at, at + step))
        response.end()
      }
      const expected = { status, ...reusable, body: bytes.toString('latin1') }
      const text = await fetchRaw()
      expect(read(text)).toEqual(expected)
      expect(read(text, cuts)).toEqual(expected)
    }),
    { numRuns: 60 },
  )
  server.close()
})

test('any bytes are either read or malformed', () => {
  const bits = fc.constantFrom(
    'HTTP/1.1 200 OK\r\n',
    'content-length: 3\r\n',
    'transfer-encoding: chunked\r\n',
    '\r\n',
    '3\r\nabc\r\n',
    '0\r\n\r\n',
    'abc',
    '\0',
  )
  fc.assert(
    fc.property(
      fc.array(fc.oneof(bits, fc.string({ maxLength: 8 })), { maxLength: 12 }),
      fc.array(fc.nat(200)),
      (pieces, cuts) => {
        try {
          read(pieces.join(''), cuts, true)
        } catch (error) {
          expect(error).toBeInstanceOf(Malformed)
        }
      },
    ),
  )
})
