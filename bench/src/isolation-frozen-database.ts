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
  const next = await post(target.port, webhookOf(appId, 0, 1), 60_000)
  if (next !== '200') scope.fault(`the next webhook after PostgreSQL continued got ${next}`)
  const what = `memory after ${seconds} s with PostgreSQL stopped, ${clients} clients with ${messages} messages each`
  return [{ what, unit: 'MB', rounds: [afterMb], base: { name: 'before', rounds: [beforeMb] } }]
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
