// Floods a port of this machine with wrongly signed webhooks until it is killed: `node flood.ts <port> <app id> <address>`.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const connections = 32
/** Over all connections. More than the service can verify. */
const pace = 300
const seconds = 120
const [port = '', appId = '', localAddress = ''] = process.argv.slice(2)
const body = Buffer.alloc(1024 * 1024, ' ')
const head = `POST /network/whatsapp/${appId} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`
const signature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`
const request = Buffer.concat([Buffer.from(`${head}${signature}Content-Length: ${body.length}\r\n\r\n`), body])

/** Sends one request after the other. Returns when the service closes the connection. */
function flood(until: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress })
    let due = performance.now()
    const send = () => {
      due = Math.max(due + (connections / pace) * 1000, performance.now())
      if (due > until) return socket.destroy()
      return setTimeout(() => socket.write(request), Math.max(0, due - performance.now()))
    }
    socket.on('connect', send).on('data', (bytes: Buffer) => bytes.includes('HTTP/1.1 ') && send())
    socket.on('error', () => {}).on('close', () => resolve())
  })
}

const until = performance.now() + seconds * 1000
await Promise.all(
  Array.from({ length: connections }, async () => {
    while (performance.now() < until) {
      await flood(until)
      await sleep((connections / pace) * 1000)
    }
  }),
)
