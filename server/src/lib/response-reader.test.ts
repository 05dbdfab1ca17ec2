import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Malformed, ResponseReader } from './response-reader.ts'

/** Reads an answer that comes in pieces cut at these places, and says what was made of it. */
function read(text: string, cuts: readonly number[] = [], ends = false) {
  const bytes = Buffer.from(text, 'latin1')
  const reader = new ResponseReader()
  let from = 0
  for (const cut of [...cuts.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    reader.read(bytes.subarray(from, cut))
    from = cut
  }
  if (ends) reader.end()
  const { status, isOver, isSound } = reader
  return { status, isOver, isSound, body: reader.body.toString('latin1') }
}

const sound = { isOver: true, isSound: true }
const spent = { isOver: true, isSound: false }

test.each<[name: string, answer: string, expected: object]>([
  ['counted', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', { status: 200, ...sound, body: 'ok' }],
  ['empty', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', { status: 200, ...sound, body: '' }],
  ['without a reason', 'HTTP/1.1 202\r\ncontent-length: 0\r\n\r\n', { status: 202, ...sound }],
  ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, ...sound }],
  ['unchanged', 'HTTP/1.1 304 x\r\ncontent-length: 9\r\n\r\n', { status: 304, ...sound }],
  [
    'in chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n',
    { status: 200, ...sound, body: 'abc0123456789' },
  ],
  [
    'after something preliminary',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 1\r\n\r\n!',
    { status: 500, ...sound, body: '!' },
  ],
  ['that closes', 'HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 2\r\n\r\nok', { status: 200, ...spent }],
  ['of an old server', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', { status: 200, ...spent }],
  ['with more than it counted', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP', { status: 200, ...spent }],
  [
    'counted twice',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok',
    { isOver: false, isSound: false },
  ],
  ['counted in words', 'HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\nok', { isOver: false, isSound: false }],
  [
    'counted and in chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    { status: 200, ...spent, body: 'ok' },
  ],
  ['in broken chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', { status: 200, ...spent }],
  ['with a folded line', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n', { status: 200, ...spent }],
  ['of another protocol then', 'HTTP/1.1 101 Switching\r\n\r\n', { status: 101, isOver: false, isSound: false }],
])('an answer %s', (_name, answer, expected) => {
  expect(read(answer)).toMatchObject(expected)
})

test('without a length it lasts until the connection ends', () => {
  const answer = 'HTTP/1.1 200 OK\r\n\r\nsome'
  expect(read(answer)).toMatchObject({ status: 200, isOver: false, body: 'some' })
  expect(read(answer, [], true)).toMatchObject({ status: 200, ...spent, body: 'some' })
})

test.each(['', 'HTTP/1.1 200 OK\r\ncontent-le'])('an end before the head is over (%j) is no answer', (start) => {
  expect(() => read(start, [], true)).toThrow(Malformed)
})

test.each(['SSH-2.0-OpenSSH\r\n\r\n', 'HTTP/2 200\r\n\r\n', 'HTTP/1.1 20 OK\r\n\r\n', '\r\n\r\n'])(
  'what is no answer is refused: %j',
  (text) => {
    expect(() => read(text)).toThrow(Malformed)
  },
)

test('of a long answer the beginning is kept, and the rest is not waited for', () => {
  const start = 'HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n'
  expect(read(`${start}${'x'.repeat(16 * 1024)}`)).toMatchObject({ isOver: false })
  expect(read(`${start}${'x'.repeat(16 * 1024 + 1)}`)).toMatchObject({ ...spent, body: 'x'.repeat(16 * 1024) })
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
])('%s are read, not more', (_what, within, beyond) => {
  expect(read(within)).toMatchObject({ status: 200, ...sound })
  expect(() => read(beyond)).toThrow(Malformed)
})

const chunks = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const extended = `1;${'x'.repeat(1_000)}\r\na\r\n`

test.each<[what: string, within: string, beyond: string]>([
  ['chunk extensions', `${chunks}${extended.repeat(60)}0\r\n\r\n`, `${chunks}${extended.repeat(66)}`],
  ['trailers', `${chunks}0\r\n${'a: b\r\n'.repeat(10_000)}\r\n`, `${chunks}0\r\n${'a: b\r\n'.repeat(14_000)}`],
])('64 KiB of %s are read, not more; the status counts', (_what, within, beyond) => {
  expect(read(within)).toMatchObject({ status: 200, ...sound })
  expect(read(beyond)).toMatchObject({ status: 200, ...spent })
})

test('what was said of idle connections is heard', () => {
  const reader = new ResponseReader()
  reader.read(Buffer.from('HTTP/1.1 200 OK\r\nKeep-Alive: max=3, timeout=5\r\ncontent-length: 0\r\n\r\n'))
  expect(reader.idleMs).toBe(5000)
})

const responses = fc.record({
  status: fc.constantFrom(200, 204, 302, 404, 500),
  body: fc.uint8Array({ maxLength: 3000 }),
  parts: fc.integer({ min: 0, max: 4 }),
})

test('whatever a real server answers, and wherever it is cut, it is read as it was meant', async () => {
  let respond: (response: ServerResponse) => void = () => {}
  const server = createServer((_request, response) => respond(response)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const ask = () =>
    new Promise<string>((resolve) => {
      let got = ''
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
      )
      socket.setEncoding('latin1').on('data', (piece: string) => {
        got += piece
        const reader = new ResponseReader()
        reader.read(Buffer.from(got, 'latin1'))
        if (reader.isOver) resolve(got)
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
      const expected = { status, ...sound, body: bytes.toString('latin1') }
      const text = await ask()
      expect(read(text)).toEqual(expected)
      expect(read(text, cuts)).toEqual(expected)
    }),
    { numRuns: 60 },
  )
  server.close()
})

test('no bytes whatever break it', () => {
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
