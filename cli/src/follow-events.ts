import { hkdfSync } from 'node:crypto'
import { secretPrefix } from '@parley/server/domain/deliveries/engine/attempt/signature'
import { type Call, UsageError } from './command.ts'
import { readTypes } from './event-feed.ts'
import { Forwarder } from './forwarder.ts'
import { openSource } from './open-source.ts'
import { say, sayAside } from './print.ts'
import { readKeys } from './read-keys.ts'
import type { Source } from './source.ts'

/** Prints new events of a workspace and forwards them, until it is stopped. */
export async function followEvents(call: Call): Promise<undefined> {
  const { option, flag, env } = call
  const url = readUrl(option('forward-to'))
  const types = readTypes(call)
  const given = readSecret(option('secret') ?? env.PARLEY_WEBHOOK_SECRET)
  const source = await openSource(call)
  const title = await source.title()
  const secret = given ?? (await ownSecret(source))
  const print = flag('json') ? sayAside : say
  const stop = new AbortController()
  const stopped = AbortSignal.any([call.stopped, stop.signal])
  const forwarder = new Forwarder({ url, secret, stopped, asJson: flag('json'), say: print })
  const quit = () => stop.abort()
  const keys = readKeys({ r: () => forwarder.repeat(), q: quit, '\u0003': quit })
  try {
    const feed = await source.openFeed(stopped)
    try {
      // Events from here on are printed.
      const { nextCursor } = await feed.read({ after: 'latest', limit: 1 })
      print(`Reading new events of ${title}.${url ? ` Forwarding them to ${url}` : ''}`)
      // A given secret is not printed: it may be in use elsewhere.
      if (url && given === undefined) print(`Signing secret: ${secret}`)
      print(url ? 'Press r to send the last event again, q or Ctrl+C to stop.' : 'Press q or Ctrl+C to stop.')
      await feed.follow({ after: nextCursor, types }, (body) => forwarder.take(body))
    } finally {
      await feed.close()
    }
  } finally {
    keys.close()
  }
  return undefined
}

/** The same at every start, so that a receiver needs it once. It reveals nothing about the key that it is made of. */
async function ownSecret(source: Source): Promise<string> {
  const { key, workspaceId } = await source.secretParts()
  return secretPrefix + Buffer.from(hkdfSync('sha256', key, '', `parley listen ${workspaceId}`, 32)).toString('base64')
}

function readSecret(text: string | undefined): string | undefined {
  if (text === undefined || text.startsWith(secretPrefix)) return text
  throw new UsageError(`Invalid --secret or PARLEY_WEBHOOK_SECRET. A signing secret begins with ${secretPrefix}.`)
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
