import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { readSecrets, verifyWebhook, WebhookVerificationError } from '@parley/sdk/verify'
import { StartupError } from '@parley/server/lib/refuse'
import { keyOptions } from '../by-key.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { followEvents } from '../follow-events.ts'
import { formatTime } from '../format.ts'
import { parseJson } from '../json.ts'
import { printJson, say, sayAside } from '../print.ts'
import { workspaceOption } from '../workspace-option.ts'

export const commands: readonly Command[] = [
  {
    name: 'listen',
    details:
      'It prints one line for each new event. With --forward-to, it also signs each one and sends it to that URL, as a webhook would; you need no webhook and no secret. Press r to send the last one again, q to stop. The secret that it prints is the same at every start. With --port, or with --secret alone, it is a receiver instead, which verifies and prints deliveries: create a webhook with the URL that it prints. With --json, it prints one JSON document per event.',
    untilStopped: true,
    options: {
      'forward-to': { value: 'URL', help: 'Your receiver, such as http://localhost:3000/hook' },
      workspace: workspaceOption('Workspace whose events it reads'),
      ...keyOptions,
      event: { value: 'EVENT', repeated: true, help: 'Only events of this type' },
      secret: {
        value: 'SECRET',
        help: 'Signing secret: to sign forwarded events, or to verify deliveries (or set PARLEY_WEBHOOK_SECRET)',
      },
      port: { value: 'PORT', help: 'Receive deliveries on this port instead (default: 8095)' },
    },
    examples: [
      'listen --forward-to http://localhost:3000/hook',
      'listen --workspace "Demo" --event message.received --event message.failed',
      'listen --port 9000 --secret whsec_…',
    ],
    async run(call) {
      const { option } = call
      const given = (name: string) => option(name) !== undefined
      const follows = given('forward-to') || ['workspace', 'url', 'key', 'event'].some(given)
      if (given('port') && follows) {
        throw new UsageError('With --port it is a receiver. Leave out --port, or the options to read events.')
      }
      return follows || (!given('port') && !given('secret')) ? followEvents(call) : receive(call)
    },
  },
]

async function receive({ option, flag, env, stopped }: Call): Promise<undefined> {
  const port = Number(option('port') ?? 8095)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`Invalid --port "${option('port')}". Enter a whole number from 0 to 65535.`)
  }
  const secret = readSecret(option('secret') ?? (env.PARLEY_WEBHOOK_SECRET || undefined))
  const print = flag('json')
    ? (received: Received) => printJson(received)
    : (received: Received) => say(linesOf(received).join('\n'))
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => Buffer.alloc(0))
    const received = await verify(body, request.headers, secret)
    response.writeHead(received.verified === false ? 400 : 200).end()
    print(received)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    const why = code === 'EADDRINUSE' ? 'it is in use' : String(code)
    throw new StartupError(`Cannot listen on port ${port}: ${why}. Choose another one with --port.`)
  })
  const { port: chosen } = server.address() as AddressInfo
  const tell = flag('json') ? sayAside : say
  tell(`Listening at http://127.0.0.1:${chosen}/`)
  if (!secret) tell('Signatures are not verified. Pass --secret to verify them.')
  if (!stopped.aborted) await once(stopped, 'abort')
  server.closeAllConnections()
  server.close()
  return undefined
}

function readSecret(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : readSecrets(text)[0]
  } catch (error) {
    throw new UsageError((error as TypeError).message)
  }
}

interface Received {
  /** Null if no secret was given. */
  verified: boolean | null
  why: string | null
  event: unknown
}

async function verify(body: Buffer, headers: IncomingHttpHeaders, secret: string | undefined): Promise<Received> {
  if (secret === undefined) return { verified: null, why: null, event: readJson(body) }
  try {
    return { verified: true, why: null, event: await verifyWebhook(body, headers, secret) }
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return { verified: false, why: error.message, event: readJson(body) }
  }
}

/** The body as text if it is not JSON. */
function readJson(body: Buffer): unknown {
  const value = parseJson(body.toString())
  return value === undefined ? body.toString() : value
}

function linesOf({ verified, why, event }: Received): string[] {
  const result = verified === null ? 'not verified' : verified ? 'verified' : `REJECTED: ${why}`
  return [`${formatTime(new Date())}  ${result}`, JSON.stringify(event, null, 2), '']
}
