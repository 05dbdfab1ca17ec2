import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, WebhookVerificationError } from '@parley/sdk/verify'
import { StartupError } from '@parley/server/lib/refuse'
import { type Command, UsageError } from '../command.ts'
import { onSignals } from '../signals.ts'

export const listenCommand: Command = {
  name: 'listen',
  summary: 'Receive deliveries on this machine, verify each and print it, until stopped',
  untilStopped: true,
  options: {
    port: { value: 'P', help: 'where to listen (default 8095)' },
    secret: { value: 'S', variable: 'PARLEY_WEBHOOK_SECRET', help: 'the endpoint’s signing secret, to verify with' },
  },
  async run({ option, flag, env }) {
    const port = Number(option('port') ?? 8095)
    if (!Number.isInteger(port) || port < 0 || port > 65_535) {
      throw new UsageError(`--port is "${option('port')}", but it takes a whole number from 0 to 65535.`)
    }
    const secret = option('secret') ?? env.PARLEY_WEBHOOK_SECRET
    const print = flag('json')
      ? (heard: Heard) => console.log(JSON.stringify(heard))
      : (heard: Heard) => console.log(linesOf(heard).join('\n'))
    const server = createServer(async (request, response) => {
      const body = await buffer(request).catch(() => Buffer.alloc(0))
      const heard = await hear(body, request.headers, secret)
      response.writeHead(heard.verified === false ? 400 : 200).end()
      print(heard)
    })
    server.listen(port, '127.0.0.1')
    await Promise.race([
      once(server, 'listening'),
      once(server, 'error').then(([error]: NodeJS.ErrnoException[]) => {
        throw new StartupError(`Port ${port} cannot be used (${error?.code}). Choose another with --port.`)
      }),
    ])
    const { port: chosen } = server.address() as AddressInfo
    const say = flag('json') ? console.error : console.log
    say(`Listening at http://127.0.0.1:${chosen}/`)
    if (!secret) say('Without --secret nothing is verified.')
    await new Promise<void>((resolve) => {
      const stopListening = onSignals(() => {
        stopListening()
        resolve()
      })
    })
    server.closeAllConnections()
    server.close()
    return undefined
  },
}

interface Heard {
  /** Null without a secret to verify with. */
  verified: boolean | null
  why: string | null
  event: unknown
}

async function hear(body: Buffer, headers: IncomingHttpHeaders, secret: string | undefined): Promise<Heard> {
  if (secret === undefined) return { verified: null, why: null, event: readJson(body) }
  try {
    return { verified: true, why: null, event: await verifyWebhook(body, headers, secret) }
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return { verified: false, why: error.message, event: readJson(body) }
  }
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return body.toString()
  }
}

function linesOf({ verified, why, event }: Heard): string[] {
  const word = verified === null ? 'not verified' : verified ? 'verified' : `REFUSED: ${why}`
  return [`${new Date().toISOString()}  ${word}`, JSON.stringify(event, null, 2), '']
}
