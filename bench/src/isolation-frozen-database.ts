import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { prepare, webhookOf } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import type { Row } from './lib/table.ts'

const seconds = 30
const messages = 20
const clients = 400
/** A client that gets no response leaves after this time, and sends the next webhook. */
const patienceMs = 500
const storedWithinMs = 60_000
const repeatMs = 250

/** Webhooks with twenty messages, from clients that do not wait, while PostgreSQL is stopped with SIGSTOP: how much memory they take. */
export async function benchFrozenDatabase(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const { appId } = await prepare(dataDir, { hookUrls: ['http://127.0.0.1:9/'] })
  const target = await scope.startTarget('parley', dataDir)
  scope.defer(() => target.signalDescendants('SIGCONT'))
  const statuses: Record<string, number> = {}
  const requests = Array.from({ length: 2_000 }, (_, index) => webhookOf(appId, index, messages))
  const requestAt = (index: number) => requests[index % requests.length] as Buffer
  await post(target.port, requestAt(0), 20_000)
  const beforeMb = target.memoryMb()
  target.signalDescendants('SIGSTOP')
  const until = performance.now() + seconds * 1000
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let next = client; performance.now() < until; next += clients) {
        const status = await post(target.port, requestAt(next), patienceMs)
        statuses[status] = (statuses[status] ?? 0) + 1
        if (status !== 'none') await sleep(patienceMs)
      }
    }),
  )
  const afterMb = target.memoryMb()
  target.signalDescendants('SIGCONT')
  scope.say(`responses while PostgreSQL was stopped: ${JSON.stringify(statuses)}`)
  const what = `after ${seconds} s with PostgreSQL stopped, ${clients} clients with ${messages} messages each`
  return [
    { what: `memory ${what}`, unit: 'MB', rounds: [afterMb], base: { name: 'before', rounds: [beforeMb] } },
    {
      what: `until the next webhook is stored ${what}`,
      unit: 's',
      rounds: [await secondsUntilStored(scope, target.port, appId)],
    },
  ]
}

/** A webhook gets 503 while too many updates wait, and the network repeats it. */
async function secondsUntilStored(scope: Scope, port: number, appId: string): Promise<number> {
  const began = performance.now()
  const elapsedMs = () => performance.now() - began
  while (elapsedMs() < storedWithinMs) {
    if ((await post(port, webhookOf(appId, 0, 1), storedWithinMs)) === '200') return elapsedMs() / 1000
    await sleep(repeatMs)
  }
  scope.fault(`no webhook was stored within ${storedWithinMs / 1000} s after PostgreSQL continued`)
  return Number.NaN
}

/** Returns the status of the response, or `none`. */
function post(port: number, request: Buffer, withinMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const timer = setTimeout(() => socket.destroy(), withinMs)
    let status = 'none'
    socket
      .on('error', () => {})
      .on('data', (bytes: Buffer) => {
        status = bytes.toString('latin1', 9, 12)
        socket.destroy()
      })
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(status)
    })
    socket.write(request)
  })
}
