import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { numberAt, prepare, webhookOf } from './prepare.ts'
import { startTarget } from './process.ts'

const seconds = 30
const messages = 20
const clients = 400
/** A client that gets no response leaves after this time, and sends the next webhook. */
const patienceMs = 500

/** Webhooks with twenty messages, from clients that do not wait, while PostgreSQL is stopped with SIGSTOP: how much memory they take. */
export async function benchFrozenDatabase(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const appId = await prepare(dataDir, ['http://127.0.0.1:9/'])
  const target = await startTarget('parley', dataDir)
  const statuses: Record<string, number> = {}
  const post = (request: Buffer, withinMs: number) =>
    new Promise<string>((resolve) => {
      const socket = connect(target.port, '127.0.0.1')
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
  try {
    const requests = Array.from({ length: 2_000 }, (_, index) => webhookOf(appId, index, messages, numberAt(0)))
    const requestAt = (index: number) => requests[index % requests.length] as Buffer
    await post(requestAt(0), 20_000)
    const beforeMb = target.memoryMb()
    target.signalDescendants('SIGSTOP')
    const until = performance.now() + seconds * 1000
    await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        for (let next = client; performance.now() < until; next += clients) {
          const status = await post(requestAt(next), patienceMs)
          statuses[status] = (statuses[status] ?? 0) + 1
          if (status !== 'none') await sleep(patienceMs)
        }
      }),
    )
    const afterMb = target.memoryMb()
    target.signalDescendants('SIGCONT')
    console.log(
      `webhooks with ${messages} messages for ${seconds} s while PostgreSQL is stopped, ${clients} clients that leave after ${patienceMs} ms`,
    )
    console.log(
      `  memory ${beforeMb.toFixed(0)} MB, then ${afterMb.toFixed(0)} MB; responses ${JSON.stringify(statuses)}`,
    )
    console.log(
      `  the next webhook after PostgreSQL continues: ${await post(webhookOf(appId, 0, 1, numberAt(0)), 60_000)}`,
    )
  } finally {
    target.signalDescendants('SIGCONT')
    await target.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
