// Runs a target of a benchmark in its own process: `node targets.ts <name> [argument]`. Prints its port. Each loads only what it
// needs: most are not the service.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startNetwork } from './network.ts'
import { startRawLimit } from './raw-limit.ts'
import { startReceiver } from './receiver.ts'

const sample = {
  account_id: '01a1dd55-289b-7083-abf4-1031d19b9c7e',
  key: { id: '01a1dd55-9e3f-75ac-910b-fdbd951eeffd', name: 'bench 0001', scopes: ['messages:send', 'messages:read'] },
  rate_limit_per_min: 100,
}

const targets: Record<string, (argument: string) => Promise<number>> = {
  async 'node:http'() {
    const body = JSON.stringify(sample)
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  async fastify() {
    const { fastify } = await import('fastify')
    const app = fastify()
    const text = { type: 'string' }
    const key = { type: 'object', properties: { id: text, name: text, scopes: { type: 'array', items: text } } }
    const reply = { type: 'object', properties: { account_id: text, key, rate_limit_per_min: { type: 'integer' } } }
    app.get('/v1/me', { schema: { response: { 200: reply } } }, () => sample)
    await app.listen({ host: '127.0.0.1', port: 0 })
    return (app.server.address() as AddressInfo).port
  },
  'raw-limit': (argument) => startRawLimit(JSON.parse(argument)),
  /** Responds after as many milliseconds as the argument says; without one, never. */
  'slow-receiver': async (delayMs) => {
    const server = createServer((request, response) => {
      request.resume()
      if (delayMs !== '') setTimeout(() => response.end('ok'), Number(delayMs))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  receiver: startReceiver,
  network: startNetwork,
  parley(argument) {
    const [dataDir, dnsServers] = argument.split(' ')
    return startParley({ PARLEY_DATA_DIR: dataDir, PARLEY_DNS_SERVERS: dnsServers })
  },
  /** With the environment in the argument, as JSON. */
  role: (argument) => startParley(JSON.parse(argument)),
}

let stopping = false
let stop = (): unknown => process.exit(0)

/** A second signal must not end the process before its database has stopped. */
function stopOnce(): void {
  if (!stopping) stop()
  stopping = true
}

async function startParley(env: Record<string, string | undefined>): Promise<number> {
  const [{ readConfig }, { startService }] = await Promise.all([
    import('@parley/server/config'),
    import('@parley/server/start'),
  ])
  const config = readConfig({ PORT: '0', PARLEY_SIMULATOR_PORT: '0', LOG_LEVEL: 'warn', ...env })
  const service = await startService({ config })
  stop = () => service.stop().then(() => process.exit(0))
  return Number(new URL(service.url).port)
}

process.on('SIGTERM', stopOnce)
process.stdin.once('end', stopOnce).resume()
// Ctrl-C reaches all processes of a terminal. The one that started this one stops it.
process.on('SIGINT', () => {})

const [name = '', argument = ''] = process.argv.slice(2)
const port = await targets[name]?.(argument)
console.log(`port ${port}`)
