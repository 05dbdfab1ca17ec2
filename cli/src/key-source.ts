import type { EventType } from '@parley/contract/events'
import { type Outgoing, Parley } from '@parley/sdk'
import { StartupError } from '@parley/server/lib/refuse'
import { explainError } from '@parley/server/whatsapp/graph/explain-error'
import { type Call, UsageError } from './command.ts'
import type { EventFeed } from './event-feed.ts'
import { findSender } from './find-sender.ts'
import { runOnServer } from './help.ts'
import type { Login } from './login-file.ts'
import { sayAside } from './print.ts'
import type { Source } from './source.ts'
import { helloTo, sentHello, testNumbers } from './test-numbers.ts'

/** A client for the API. `fetch` is used instead of the global one. */
export function newClient({ url, key }: Login, fetch?: typeof globalThis.fetch): Parley {
  try {
    return new Parley({ baseUrl: url, key, fetch })
  } catch (error) {
    throw new UsageError(`Invalid URL or API key: ${(error as Error).message}`)
  }
}

/** The workspace of an API key, through the API. */
export function newKeySource(call: Call, service: Login): Source {
  let isReplayed = false
  const client = newClient(service, async (input, init) => {
    const response = await fetch(input, init)
    isReplayed = response.headers.get('idempotent-replayed') === 'true'
    return response
  })
  const source: Source = {
    async title() {
      const { key } = await client.me()
      return `the workspace of API key ${key.name} at ${service.url}`
    },
    isServing: true,
    demoPhone() {
      const running = call.running()
      if (running === undefined || running === 'stopped') return null
      const isSame = [running.url, running.public_url].includes(service.url.replace(/\/+$/, ''))
      return isSame ? running.phone : null
    },
    senders: () => client.senders.list({ limit: 100, order: 'asc' }).all(),
    templates: (name) => client.templates.list({ limit: 100, order: 'asc', ...(name && { name }) }).all(),
    async checkReading() {
      const { id, scopes } = (await client.me()).key
      if (scopes.includes('messages:read')) return
      throw new StartupError(
        `Nothing was sent: --wait needs the scope 'messages:read'. An operator adds it with: ./parley key change ${id} --scope ${[...scopes, 'messages:read'].join(',')}`,
      )
    },
    async send(body, { idempotencyKey } = {}) {
      // The service checks it, as it checks every request.
      const message = await client.messages.send(body as unknown as Outgoing, given(idempotencyKey))
      return { message, replayed: isReplayed }
    },
    pollMs: 2_000,
    async status(id) {
      const { status, error } = await client.messages.get(id)
      return { status, error: error?.title ?? null, explained: error && { ...error, ...explainError(error) } }
    },
    isWindowClosed: async () => false,
    openFeed: async (signal) => newKeyFeed(client, signal),
    async secretParts() {
      return { key: Buffer.from(service.key), workspaceId: (await client.me()).account_id }
    },
    async makerOf(type) {
      const to = testNumbers[type]
      if (to === undefined) return null
      const sender = await findSender(source, undefined)
      return async () => sentHello((await source.send(helloTo(to, sender.id))).message.id, to)
    },
    sendTestEvents: (type) => refuseTrigger(client, type),
  }
  return source
}

const given = (idempotencyKey: string | undefined) => (idempotencyKey === undefined ? {} : { idempotencyKey })

async function refuseTrigger(client: Parley, type: EventType): Promise<never> {
  return operatorRuns(client, `make ${type} happen`, ['trigger', type])
}

/** Says what an operator has to run, because a key cannot do it. */
export async function operatorRuns(client: Parley, what: string, words: readonly string[]): Promise<never> {
  const { account_id } = await client.me()
  throw new StartupError(`An API key cannot ${what}. ${runOnServer([...words, '--workspace', account_id])}`)
}

function newKeyFeed({ events }: Parley, signal: AbortSignal): EventFeed {
  const bodyOf = (event: object) => Buffer.from(JSON.stringify(event))
  return {
    async read(query) {
      const page = await events.read(query, { signal })
      return { bodies: page.data.map(bodyOf), hasMore: page.has_more, nextCursor: page.next_cursor }
    },
    async follow({ after, types }, take) {
      let cursor = after
      let isAway = false
      const onRetry = ({ message }: Error) => {
        if (!isAway) sayAside(`${message} Trying again.`)
        isAway = true
      }
      try {
        for await (const { data, next_cursor } of events.follow({ after, type: types }, { signal, onRetry })) {
          isAway = false
          for (const event of data) {
            // The cursor stays before a page that was not printed to its end.
            if (signal.aborted) return cursor
            await take(bodyOf(event))
          }
          cursor = next_cursor
        }
      } catch (error) {
        if (!signal.aborted) throw error
      }
      return cursor
    },
    close: async () => {},
  }
}
