import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { loopback } from '../../testing/deliveries.ts'
import { newOutbound, type Outbound } from './outbound.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** A server that says these words to whatever it gets, and what became of its connections. */
async function speaker(say: (socket: Socket, request: number) => void) {
  const sockets: Socket[] = []
  let requests = 0
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => say(socket, ++requests))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outbound: Outbound = newOutbound({
    allowHttp: true,
    allowRanges: loopback,
    ca: null,
    deadlineMs: 800,
    answerDeadlineMs: 200,
  })
  undo.push(
    () => outbound.close(),
    () => server.close(),
  )
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return { sockets, post: () => outbound.post(url, ['content-type', 'application/json'], Buffer.from('{}')) }
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'

test('a line is used again, also for an answer that came in pieces', async () => {
  const { sockets, post } = await speaker(async (socket) => {
    socket.write(`${ok}\r\no`)
    await sleep(20)
    socket.write('k')
  })
  for (let count = 0; count < 3; count++) {
    expect(await post()).toMatchObject({ status: 200, fault: null, answer: Buffer.from('ok') })
  }
  expect(sockets).toHaveLength(1)
})

test('a line that the other side is about to close is closed at once, and not kept', async () => {
  const { sockets, post } = await speaker((socket) => socket.write(`${ok}keep-alive: timeout=1\r\n\r\nok`))
  await post()
  await once(sockets[0] as Socket, 'close')
  expect(await post()).toMatchObject({ status: 200 })
  expect(sockets).toHaveLength(2)
})

test('a line that was closed while it was idle is not used', async () => {
  const { sockets, post } = await speaker((socket) => socket.write(`${ok}\r\nok`))
  await post()
  sockets[0]?.end()
  await once(sockets[0] as Socket, 'close')
  expect(await post()).toMatchObject({ status: 200 })
  expect(sockets).toHaveLength(2)
})

test('more than was asked for ends the line', async () => {
  const { sockets, post } = await speaker((socket) => socket.write(`${ok}\r\nok${ok}\r\nno`))
  expect(await post()).toMatchObject({ status: 200, answer: Buffer.from('ok') })
  await once(sockets[0] as Socket, 'close')
})

test('only a 2xx is a success', async () => {
  const { post } = await speaker((socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'))
  expect(await post()).toMatchObject({ status: 101, fault: 'http' })
})

test('a receiver that has spoken has spoken, though the rest of its answer never comes', async () => {
  const { sockets, post } = await speaker((socket) => socket.write(`${ok}\r\no`))
  expect(await post()).toMatchObject({ status: 200, fault: null, answer: Buffer.from('o') })
  await once(sockets[0] as Socket, 'close')
})

test('no answer in time, an end without one, and words that are none have classes of their own', async () => {
  const says = [
    () => {},
    (socket: Socket) => socket.end(),
    (socket: Socket) => socket.write('220 mail.example\r\n\r\n'),
  ]
  const { post } = await speaker((socket, request) => says[request - 1]?.(socket))
  expect(await post()).toMatchObject({ status: null, fault: 'timeout' })
  expect(await post()).toMatchObject({ status: null, fault: 'protocol' })
  expect(await post()).toMatchObject({ status: null, fault: 'protocol' })
})
