import { randomBytes } from 'node:crypto'
import { secretPrefix } from '@parley/server/domain/deliveries/engine/signature'
import { type Call, UsageError } from './command.ts'
import { openFeed, readTypes } from './event-feed.ts'
import { Forwarder } from './forwarder.ts'
import { readKeys } from './read-keys.ts'
import { onSignals } from './signals.ts'
import { readWorkspace } from './workspace-option.ts'

/** Prints new events of a workspace and forwards them, until it is stopped. */
export async function followEvents(call: Call): Promise<undefined> {
  const { option, options, flag, env } = call
  const url = readUrl(option('forward-to'))
  const types = readTypes([...options('event'), ...options('events')])
  const workspace = await readWorkspace(call)
  const secret = option('secret') ?? env.PARLEY_WEBHOOK_SECRET ?? secretPrefix + randomBytes(32).toString('base64')
  const say = flag('json') ? console.error : console.log
  const stop = new AbortController()
  const stopListening = onSignals(() => stop.abort())
  const forwarder = new Forwarder(url, secret, flag('json'))
  const quit = () => stop.abort()
  const keys = readKeys({ r: () => forwarder.repeat(), q: quit, '\u0003': quit })
  try {
    const feed = await openFeed(call, workspace, stop.signal)
    try {
      // Events from here on are printed.
      const { nextCursor } = await feed.read({ after: 'latest', limit: 1 })
      say(`Reading new events of workspace ${workspace.name}.${url ? ` Forwarding them to ${url}` : ''}`)
      if (url) say(`Signing secret: ${secret}`)
      say(url ? 'Press r to send the last event again, q or Ctrl+C to stop.' : 'Press q or Ctrl+C to stop.')
      await feed.follow({ after: nextCursor, types, say }, (body) => forwarder.take(body))
    } finally {
      await feed.close()
    }
  } finally {
    keys.close()
    stopListening()
  }
  return undefined
}

function readUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  // As people write it: a port, or a host without http.
  const full = /^\d+$/.test(text) ? `http://localhost:${text}/` : /^[\w.-]+:\d+/.test(text) ? `http://${text}` : text
  const url = URL.canParse(full) ? new URL(full) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`Invalid --forward-to "${text}". Enter a URL such as http://localhost:3000/hook.`)
  }
  return url.href
}
