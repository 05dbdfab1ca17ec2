import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { ChangeNotice } from '../../db/notices/change-notices.ts'
import { Refusal, refuse } from '../../lib/refuse.ts'
import type { Overload } from '../../sharing/overload.ts'
import type { ConsoleGuard } from './pipeline.ts'

/** An open stream: one browser that watches one workspace. */
interface Watcher {
  workspaceId: string
  personId: string
  stream: PassThrough
  /** Whether the person still has access. */
  check(): Promise<boolean>
}

const maxPerPerson = 5
/**
 * How many bytes may wait for a browser that has stopped reading. A browser that is disconnected reconnects by itself.
 */
const maxUnreadBytes = 64 * 1024

/** Notifies browsers of changes in the workspace they show. A notice has only the topic, not the data. */
export class LiveHub {
  readonly #watchers = new Set<Watcher>()
  readonly #checks: NodeJS.Timeout
  readonly #maxStreams: number
  #stopped = false

  constructor(checkMs: number, max: number) {
    this.#maxStreams = max
    // Ends the streams of a session that has expired, and those whose notice was lost. The comments it writes keep proxies
    // from closing them.
    this.#checks = setInterval(() => void this.#checkAll(), checkMs).unref()
  }

  /** Whether a person may open another stream. With too many of their own, it replaces the oldest. */
  mayOpen(personId: string): boolean {
    return this.#watchers.size < this.#maxStreams || this.#streamsOf(personId).length >= maxPerPerson
  }

  publish({ workspaceId, topic }: ChangeNotice): void {
    for (const watcher of this.#watchers) {
      if (watcher.workspaceId === workspaceId) this.#write(watcher, eventOf('change', { topic }))
    }
  }

  /** Notices may have been lost: every browser loads everything again, if it still has access. */
  publishAll(): void {
    for (const watcher of this.#watchers) this.#write(watcher, eventOf('change', { topic: 'all' }))
    void this.#checkAll()
  }

  /** A session of this person has ended, or they were removed from a workspace or disabled. */
  checkPerson(personId: string): void {
    for (const watcher of this.#watchers) if (watcher.personId === personId) void this.#check(watcher)
  }

  watch(watcher: Watcher): void {
    // The browser disconnected during the access check, so there will be no `close` event.
    if (watcher.stream.destroyed) return
    const streams = this.#streamsOf(watcher.personId)
    // The oldest stream may belong to a browser whose disconnect was not detected yet, so it is the one to end.
    if (streams.length >= maxPerPerson && streams[0]) this.#end(streams[0], 'too_many')
    this.#watchers.add(watcher)
    watcher.stream.on('close', () => this.#watchers.delete(watcher))
    if (this.#stopped) this.#end(watcher, 'stopping')
  }

  stop(): void {
    this.#stopped = true
    clearInterval(this.#checks)
    for (const watcher of this.#watchers) this.#end(watcher, 'stopping')
  }

  #streamsOf(personId: string): Watcher[] {
    return [...this.#watchers].filter((watcher) => watcher.personId === personId)
  }

  async #checkAll(): Promise<void> {
    for (const watcher of this.#watchers) await this.#check(watcher)
  }

  async #check(watcher: Watcher): Promise<void> {
    const isAllowed = await watcher.check().catch(() => true)
    if (isAllowed) this.#write(watcher, ': still here\n\n')
    else this.#end(watcher, 'signed_out')
  }

  #write(watcher: Watcher, text: string): void {
    const { stream } = watcher
    // It may have ended during the check.
    if (!this.#watchers.has(watcher)) return
    if (stream.writableLength > maxUnreadBytes) stream.destroy()
    else stream.write(text)
  }

  #end(watcher: Watcher, reason: string): void {
    if (this.#watchers.delete(watcher)) watcher.stream.end(eventOf('end', { reason }))
  }
}

const eventOf = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

export function mountLive(app: FastifyInstance, hub: LiveHub, guard: ConsoleGuard, overload: Overload): void {
  // The response to HEAD would never read its stream, which would stay open.
  const options = { exposeHeadRoute: false }
  app.get<{ Params: { workspace: string } }>('/w/:workspace/live', options, async (request, reply) => {
    // An open stream is not activity: it does not extend the session.
    const authorize = () => guard.authorize(request, 'overview:read', request.params.workspace, false)
    const { person, workspaceId } = await authorize()
    if (!person || workspaceId === null) refuse('not_signed_in')
    if (!hub.mayOpen(person.personId)) throw overload.refusal('live_streams', guard.addressOf(request.raw))
    const check = () =>
      authorize().then(
        () => true,
        (error: unknown) => !(error instanceof Refusal),
      )
    const stream = new PassThrough()
    stream.write('retry: 2000\nevent: hello\ndata: {}\n\n')
    reply.header('Content-Type', 'text/event-stream; charset=utf-8').header('X-Accel-Buffering', 'no').send(stream)
    hub.watch({ workspaceId, personId: person.personId, stream, check })
    return reply
  })
}
