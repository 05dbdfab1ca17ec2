import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventTypes } from '@parley/contract/events'
import { listenForChanges } from '@parley/server/db/listen-for-changes'
import { headersOf } from '@parley/server/domain/deliveries/engine/attempt'
import { secretPrefix, signingKeysOf } from '@parley/server/domain/deliveries/engine/signature'
import { newPulling, type PullDeps, pullEvents } from '@parley/server/domain/deliveries/pulling/pull-events'
import { newLogger } from '@parley/server/lib/logger'
import { Refusal } from '@parley/server/lib/refuse'
import { version } from '@parley/server/lib/version'
import { type Call, UsageError } from './command.ts'
import { formatTime } from './format.ts'
import { readList } from './read-options.ts'
import { onSignals } from './signals.ts'
import { readWorkspace } from './workspace-option.ts'

/** As a webhook waits for a response. */
const responseMs = 10_000
/** Until it reads again after the database was away. */
const retryMs = 1_000
/** How long one read waits for an event. */
const waitSeconds = 25

/** Prints new events of a workspace and forwards them, until it is stopped. */
export async function followEvents(call: Call): Promise<undefined> {
  const { option, flag, env, clock } = call
  const url = readUrl(option('forward-to'))
  const types = readTypes(call.options('event'))
  const workspace = await readWorkspace(call)
  const secret = option('secret') ?? env.PARLEY_WEBHOOK_SECRET ?? secretPrefix + randomBytes(32).toString('base64')
  const say = flag('json') ? console.error : console.log
  const db = await call.db()
  const stop = new AbortController()
  const stopListening = onSignals(() => stop.abort())
  const changes = listenForChanges(
    db,
    newLogger('silent'),
    () => {},
    () => {},
  )
  const deps: PullDeps = {
    db: db.within(workspace.id),
    clock,
    workspaceId: workspace.id,
    pulling: newPulling({ db }),
    hold: (ms, subscribe) => holdUntil(stop.signal, ms, subscribe),
  }
  const follower = new Follower(url, secret, flag('json'))
  const keys = readKeys({ r: () => follower.repeat(), '\u0003': () => stop.abort() })
  try {
    await changes.ready
    // Events from here on are printed.
    const { nextCursor } = await pullEvents(deps, { after: 'latest', limit: 1 })
    say(`Reading new events of workspace ${workspace.name}.${url ? ` Forwarding them to ${url}` : ''}`)
    if (url) say(`Signing secret: ${secret}`)
    say(url ? 'Press r to send the last event again, Ctrl+C to stop.' : 'Press Ctrl+C to stop.')
    await follow(deps, { after: nextCursor, types, signal: stop.signal, say }, (body) => follower.take(body))
  } finally {
    keys.close()
    stopListening()
    await changes.stop()
  }
  return undefined
}

/** Reads events until it is stopped, and passes them on one after the other. */
async function follow(
  deps: PullDeps,
  options: { after: string; types: string[] | undefined; signal: AbortSignal; say(line: string): void },
  take: (body: Buffer) => Promise<void>,
): Promise<void> {
  const { types, signal, say } = options
  let { after } = options
  while (!signal.aborted) {
    try {
      const query = { after, wait: waitSeconds, ...(types && { type: types }) }
      const { bodies, nextCursor } = await pullEvents(deps, query)
      for (const body of bodies) if (!signal.aborted) await take(body)
      after = nextCursor
    } catch (error) {
      // Otherwise the database is away: it comes back.
      if (error instanceof Refusal && error.status < 500) throw error
      say(`Reading events failed: ${(error as Error).message}. Trying again.`)
      await sleep(retryMs, undefined, { signal }).catch(() => {})
    }
  }
}

interface Taken {
  id: string
  type: string
  body: Buffer
}

/** Prints events and forwards them, one at a time. */
class Follower {
  readonly #url: string | null
  readonly #keys: readonly ReturnType<typeof signingKeysOf>[]
  readonly #asJson: boolean
  #last: Taken | null = null
  #working: Promise<void> = Promise.resolve()

  constructor(url: string | null, secret: string, asJson: boolean) {
    this.#url = url
    this.#keys = [signingKeysOf(secret)]
    this.#asJson = asJson
  }

  take(body: Buffer): Promise<void> {
    const { id, type } = JSON.parse(body.toString()) as { id: string; type: string }
    this.#last = { id, type, body }
    return this.#next({ id, type, body })
  }

  repeat(): void {
    if (this.#last && this.#url) void this.#next(this.#last)
  }

  #next(event: Taken): Promise<void> {
    this.#working = this.#working.then(() => this.#handle(event))
    return this.#working
  }

  async #handle({ id, type, body }: Taken): Promise<void> {
    const at = new Date()
    const sent = this.#url === null ? null : await this.#forward(this.#url, { id, type, body }, at)
    if (this.#asJson) {
      console.log(JSON.stringify({ at, ...(sent && { forwarded: sent }), event: JSON.parse(body.toString()) }))
    } else {
      const result = sent && (sent.status === null ? `FAILED: ${sent.error}` : `${sent.status}`)
      const parts = [formatTime(at), type, id, ...(sent ? [`→ ${result} in ${sent.duration_ms} ms`] : [])]
      console.log(parts.join('  '))
    }
  }

  async #forward(url: string, { id, type, body }: Taken, at: Date) {
    const began = performance.now()
    const flat = headersOf(this.#keys, { eventId: id, type, body }, at, `Parley/${version}`)
    const headers = Array.from(
      { length: flat.length / 2 },
      (_, n) => [flat[2 * n], flat[2 * n + 1]] as [string, string],
    )
    const post = { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(responseMs) } as const
    const result = await fetch(url, post).then(
      async (response) => {
        await response.body?.cancel()
        return { status: response.status as number | null, error: null as string | null }
      },
      (error: Error & { cause?: Error }) => ({ status: null, error: error.cause?.message || error.message }),
    )
    return { ...result, duration_ms: Math.round(performance.now() - began) }
  }
}

function holdUntil(
  signal: AbortSignal,
  ms: number,
  subscribe: Parameters<PullDeps['hold']>[1],
): ReturnType<PullDeps['hold']> {
  if (signal.aborted) return Promise.resolve('ended')
  return new Promise((resolve) => {
    const end = (how: 'woken' | 'over' | 'ended') => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      unsubscribe()
      resolve(how)
    }
    const onAbort = () => end('ended')
    const timer = setTimeout(() => end('over'), ms)
    signal.addEventListener('abort', onAbort)
    const unsubscribe = subscribe(() => end('woken'))
  })
}

/** Calls back for keys that are pressed, also if they come from a pipe. */
function readKeys(actions: Readonly<Record<string, () => void>>): { close(): void } {
  const { stdin } = process
  const onData = (chunk: Buffer) => {
    for (const key of chunk.toString()) actions[key]?.()
  }
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', onData)
  return {
    close() {
      stdin.off('data', onData)
      if (stdin.isTTY) stdin.setRawMode(false)
      stdin.pause()
      stdin.unref?.()
    },
  }
}

function readUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`Invalid --forward-to "${text}". Enter a URL such as http://localhost:3000/hook.`)
  }
  return url.href
}

function readTypes(given: readonly string[]): string[] | undefined {
  const types = readList(given)
  for (const type of types) {
    if (!eventTypes.some((each) => each === type)) {
      throw new UsageError(`"${type}" is not an event type. Choose from ${eventTypes.join(', ')}.`)
    }
  }
  return types.length > 0 ? types : undefined
}
