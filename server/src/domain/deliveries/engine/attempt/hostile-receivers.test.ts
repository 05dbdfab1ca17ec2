import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { attemptsOf, newDeliveryWorker, newLine, useDeliveryWorker } from '../../../../../testing/deliveries.ts'
import { type Behaviour, type Receiver, useReceivers } from '../../../../../testing/receiver.ts'
import { startTestServer, useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'

const testServer = useTestServer()
const deliveries = useDeliveryWorker(testServer, { deadlineMs: 2_000, bodyDeadlineMs: 500 })
const newReceiver = useReceivers()

async function attemptAt(receiver: Pick<Receiver, 'url'>) {
  const line = await newLine(testServer)
  const { id } = await line.listen(receiver)
  await line.write()
  await deliveries.worker.drain()
  const [first] = await attemptsOf(testServer, id)
  return first
}

const endless = Buffer.alloc(1024 * 1024, 'x')

const cases: [string, Behaviour, object][] = [
  ['hangs', () => {}, { status: null, error: 'timeout', state: 'retrying' }],
  ['resets the connection', (response) => response.socket?.resetAndDestroy(), { status: null, error: 'protocol' }],
  [
    'redirects',
    (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    { status: 302, error: 'blocked' },
  ],
  ['returns 299', 299, { status: 299, error: null, state: 'delivered' }],
  ['returns 300', 300, { status: 300, error: 'http', state: 'retrying' }],
  ['returns 410', 410, { status: 410, error: 'http' }],
  [
    'never ends a 200 response',
    (response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(drip))
    },
    { status: 200, error: null, state: 'delivered' },
  ],
  [
    'breaks off a 200 response',
    (response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('half')
      setTimeout(() => response.destroy(), 20)
    },
    { status: 200, error: null, answer: Buffer.from('half') },
  ],
  [
    'sends early hints first',
    (response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.writeHead(200).end('ok')
    },
    { status: 200, error: null },
  ],
]

test.each(cases)('records an attempt at a receiver that %s', async (_name, behaviour, expected) => {
  const receiver = await newReceiver()
  receiver.behave(behaviour)
  expect(await attemptAt(receiver)).toMatchObject({ address: '127.0.0.1', ...expected })
})

test('of a 10 MB response the first 16 KiB are stored, and the rest is not read', async () => {
  const receiver = await newReceiver()
  let sent = 0
  receiver.behave((response) => {
    response.writeHead(200)
    const more = () => {
      while (sent < 10 && !response.destroyed) {
        sent++
        if (!response.write(endless)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  const attempt = await attemptAt(receiver)
  expect(attempt).toMatchObject({ status: 200, state: 'delivered' })
  expect(attempt?.answer.length).toBe(16 * 1024)
  expect(sent).toBeLessThan(10)
})

test('a receiver that does not speak HTTP is a protocol error, and a closed port a connect error', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  expect(await attemptAt({ url: `http://127.0.0.1:${port}/` })).toMatchObject({ status: null, error: 'protocol' })
  await new Promise((resolve) => server.close(resolve))
  expect(await attemptAt({ url: `http://127.0.0.1:${port}/` })).toMatchObject({ error: 'connect', address: null })
})

test('a receiver that hangs does not delay others', async () => {
  const own = await startTestServer()
  // Long enough that no attempt times out before the others have their events.
  const worker = newDeliveryWorker(own.server, { deadlineMs: 60_000 })
  onTestFinished(async () => {
    await worker.stop(0)
    await own.close()
  })
  const newListener = async () => {
    const receiver = await newReceiver()
    const line = await newLine(own.server)
    await line.listen(receiver)
    return { receiver, line }
  }
  const { receiver: hanging, line: bad } = await newListener()
  hanging.behave(() => {})
  const others = await Promise.all(Array.from({ length: 10 }, newListener))
  await bad.write(500)
  await until('the hanging receiver has requests', () => hanging.received.length > 0)
  await Promise.all(others.map(({ line }) => line.write(20)))
  await until('the others have their events', () => others.every(({ receiver }) => receiver.received.length === 20))
  expect(hanging.received.length).toBeLessThanOrEqual(8)
})
