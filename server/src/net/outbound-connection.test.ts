import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { loopback } from '../../testing/deliveries.ts'
import { newOutbound, type OutboundOptions } from './outbound.ts'

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanup.splice(0)) await step()
})

/** A server that calls `respond` for each request, and a client that posts to it. */
async function startServer(respond: (socket: Socket, request: number) => void, options: Partial<OutboundOptions> = {}) {
  const sockets: Socket[] = []
  let requests = 0
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => respond(socket, ++requests))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outbound = newOutbound({
    allowHttp: true,
    allowRanges: loopback,
    ca: null,
    deadlineMs: 800,
    bodyDeadlineMs: 200,
    ...options,
  })
  cleanup.push(
    () => outbound.close(),
    () => server.close(),
  )
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const post = async () => {
    const posted = await outbound.post(url, ['content-type', 'application/json'], Buffer.from('{}'))
    if (!posted) throw new Error('no request was made')
    return posted
  }
  return { sockets, post }
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'

test('a connection is reused, even after a response in several chunks', async () => {
  const { sockets, post } = await startServer(async (socket) => {
    socket.write(`${ok}\r\no`)
    await sleep(20)
    socket.write('k')
  })
  for (let count = 0; count < 3; count++) {
    expect(await post()).toMatchObject({ status: 200, fault: null, responseBody: Buffer.from('ok') })
  }
  expect(sockets).toHaveLength(1)
})

test('a connection that the server is about to close is closed immediately', async () => {
  const { sockets, post } = await startServer((socket) => socket.write(`${ok}keep-alive: timeout=1\r\n\r\nok`))
  await post()
  await once(sockets[0] as Socket, 'close')
  expect(await post()).toMatchObject({ status: 200 })
  expect(sockets).toHaveLength(2)
})

test('a connection that the server closed while it was idle is not used', async () => {
  const { sockets, post } = await startServer((socket) => socket.write(`${ok}\r\nok`))
  await post()
  sockets[0]?.end()
  await once(sockets[0] as Socket, 'close')
  expect(await post()).toMatchObject({ status: 200 })
  expect(sockets).toHaveLength(2)
})

test('after a response that closes the connection, the next request uses a new one', async () => {
  const { sockets, post } = await startServer((socket) => socket.end(`${ok}connection: close\r\n\r\nok`))
  for (let count = 0; count < 3; count++) {
    expect(await post()).toMatchObject({ status: 200, address: '127.0.0.1', responseBody: Buffer.from('ok') })
  }
  expect(sockets).toHaveLength(3)
})

test('an idle connection is closed after the deadline', async () => {
  const { sockets, post } = await startServer((socket) => socket.write(`${ok}\r\nok`), { deadlineMs: 100 })
  await post()
  await once(sockets[0] as Socket, 'close')
})

test('a second response to one request ends the connection', async () => {
  const { sockets, post } = await startServer((socket) => socket.write(`${ok}\r\nok${ok}\r\nno`))
  expect(await post()).toMatchObject({ status: 200, responseBody: Buffer.from('ok') })
  await once(sockets[0] as Socket, 'close')
})

test('the status counts even if the rest of the response never arrives', async () => {
  const { sockets, post } = await startServer((socket) => socket.write(`${ok}\r\no`))
  expect(await post()).toMatchObject({ status: 200, fault: null, responseBody: Buffer.from('o') })
  await once(sockets[0] as Socket, 'close')
})

test.each<[name: string, respond: (socket: Socket) => void, fault: string]>([
  ['no response', () => {}, 'timeout'],
  ['a closed connection', (socket) => socket.end(), 'protocol'],
  ['another protocol', (socket) => socket.write('220 mail.example\r\n\r\n'), 'protocol'],
])('%s instead of a status fails with its error kind', async (_name, respond, fault) => {
  const { post } = await startServer(respond)
  expect(await post()).toMatchObject({ status: null, fault })
})

test('only a 2xx is a success', async () => {
  const { post } = await startServer((socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'))
  expect(await post()).toMatchObject({ status: 101, fault: 'http' })
})

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

/** Sends `start`, then `more` for as long as the connection lasts. */
const flood = (start: string, more: string) => (socket: Socket) => {
  const block = Buffer.from(more.repeat(Math.ceil(65_536 / more.length)))
  const write = () => {
    while (!socket.destroyed) if (!socket.write(block)) return void socket.once('drain', write)
  }
  socket.write(start)
  write()
}

const closed = (socket: Socket | undefined) =>
  new Promise<void>((resolve) => (socket?.closed ? resolve() : socket?.once('close', () => resolve())))

const patient = { deadlineMs: 60_000, bodyDeadlineMs: 60_000 }

test.each<[name: string, start: string, more: string]>([
  ['informational responses', '', 'HTTP/1.1 102 x\r\n\r\n'],
  ['large informational responses', '', `HTTP/1.1 103 x\r\na: ${'b'.repeat(15_000)}\r\n\r\n`],
  ['blank lines', '', '\r\n'],
  ['a reason phrase', 'HTTP/1.1 200 ', 'x'],
  ['headers', 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'],
  ['empty headers', 'HTTP/1.1 200 OK\r\n', 'a:\r\n'],
  ['a header name', 'HTTP/1.1 200 OK\r\n', 'a'],
  ['a header value', 'HTTP/1.1 200 OK\r\na: ', 'b'],
  ['spaces before a value', 'HTTP/1.1 200 OK\r\na:', ' '],
])('a flood of %s is stopped early', async (_name, start, more) => {
  const { sockets, post } = await startServer(flood(start, more), patient)
  const { durationUs, ...posted } = await post()
  expect(posted).toMatchObject({ status: null, fault: 'protocol', address: '127.0.0.1' })
  expect(durationUs).toBeLessThan((patient.deadlineMs * 1000) / 2)
  await closed(sockets[0])
})

/** Sends `start`, then 5,000 single bytes one after the other, then `end`. */
const drip = (start: string, end: string) => async (socket: Socket) => {
  socket.setNoDelay(true).write(start)
  for (let sent = 0; sent < 5_000 && !socket.destroyed; sent++) {
    socket.write('x')
    await new Promise((resolve) => setImmediate(resolve))
  }
  socket.write(end)
}

test('a response that arrives byte by byte is not read to its end', async () => {
  const deadlines = { deadlineMs: 60_000, bodyDeadlineMs: 60_000 }
  const head = await startServer(drip('HTTP/1.1 200 ', '\r\ncontent-length: 0\r\n\r\n'), deadlines)
  expect(await head.post()).toMatchObject({ status: null, fault: 'protocol' })
  const body = await startServer(drip('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n', ''), deadlines)
  const posted = await body.post()
  expect(posted).toMatchObject({ status: 200, fault: null })
  expect(posted.responseBody.length).toBeLessThan(5_000)
  await Promise.all([closed(head.sockets[0]), closed(body.sockets[0])])
})

test.each<[name: string, start: string, more: string]>([
  ['a chunk extension', `${chunked}1;`, 'x'],
  ['chunk extensions', chunked, `1;${'x'.repeat(1000)}\r\na\r\n`],
  ['one-byte chunks', chunked, '1\r\na\r\n'],
  ['a chunk size', chunked, '0'],
  ['trailers', `${chunked}0\r\n`, 'a: b\r\n'],
  ['spaces in a trailer', `${chunked}0\r\na:`, ' '],
])('a flood of %s is stopped early, and the status counts', async (_name, start, more) => {
  const { sockets, post } = await startServer(flood(start, more), patient)
  const { durationUs, ...posted } = await post()
  expect(posted).toMatchObject({ status: 200, fault: null })
  expect(durationUs).toBeLessThan((patient.deadlineMs * 1000) / 2)
  await closed(sockets[0])
})
