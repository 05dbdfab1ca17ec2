import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ChangeNotice } from '../../db/change-notices.ts'
import { Refusal, refuse } from '../../lib/refuse.ts'
import { commonHeaders, type FramedPage } from './pipeline.ts'

/** One browser that watches one workspace. */
interface Watcher {
  workspaceId: string
  personId: string
  reply: FastifyReply
  /** Whether whoever opened it may still see it. */
  check(): Promise<boolean>
}

const perPerson = 5
/** What may lie here for a browser that has stopped reading. One that is cut off comes back by itself. */
const unreadMax = 64 * 1024

/** Streams what changes to the browsers that look at it. Each stream shows only its own workspace, and only hints. */
export class LiveHub {
  readonly #watchers = new Set<Watcher>()
  readonly #checks: NodeJS.Timeout
  #stopped = false

  constructor(checkMs: number) {
    // A session that ended elsewhere ends its streams within a minute; what is written keeps proxies from closing them.
    this.#checks = setInterval(() => void this.#checkAll(), checkMs).unref()
  }

  hear({ workspaceId, topic }: ChangeNotice): void {
    for (const watcher of this.#watchers) {
      if (watcher.workspaceId === workspaceId) this.#write(watcher, eventOf('change', { topic }))
    }
  }

  /** Something may have been missed: everything is to be asked for again. */
  missed(): void {
    for (const watcher of this.#watchers) this.#write(watcher, eventOf('change', { topic: 'all' }))
  }

  watch(watcher: Watcher): void {
    // Gone while it was being let in: nothing would tell of it any more.
    if (watcher.reply.raw.closed) return
    const own = [...this.#watchers].filter(({ personId }) => personId === watcher.personId)
    // A browser that went away without a word may not have been noticed yet: the oldest makes room.
    if (own.length >= perPerson && own[0]) this.#end(own[0], 'too_many')
    this.#watchers.add(watcher)
    watcher.reply.raw.on('close', () => this.#watchers.delete(watcher))
    if (this.#stopped) this.#end(watcher, 'stopping')
  }

  stop(): void {
    this.#stopped = true
    clearInterval(this.#checks)
    for (const watcher of this.#watchers) this.#end(watcher, 'stopping')
  }

  async #checkAll(): Promise<void> {
    for (const watcher of this.#watchers) {
      const may = await watcher.check().catch(() => true)
      if (may) this.#write(watcher, ': still here\n\n')
      else this.#end(watcher, 'signed_out')
    }
  }

  #write(watcher: Watcher, text: string): void {
    const { raw } = watcher.reply
    // It may have ended while it was being looked at.
    if (!this.#watchers.has(watcher)) return
    if (raw.writableLength > unreadMax) raw.destroy()
    else raw.write(text)
  }

  #end(watcher: Watcher, reason: string): void {
    if (this.#watchers.delete(watcher)) watcher.reply.raw.end(eventOf('end', { reason }))
  }
}

const eventOf = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

export function mountLive(app: FastifyInstance, hub: LiveHub, door: FramedPage): void {
  app.get<{ Params: { workspace: string } }>('/w/:workspace/live', async (request, reply) => {
    // A stream that stays open is nobody being there: it does not keep a session from running out.
    const enter = () => door.enter(request, 'overview:read', request.params.workspace, false)
    const { person, workspaceId } = await enter()
    if (!person || workspaceId === null) refuse('not_signed_in')
    reply.hijack()
    reply.raw.writeHead(200, {
      ...commonHeaders(request.id),
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no',
    })
    reply.raw.write('retry: 2000\nevent: hello\ndata: {}\n\n')
    const check = () =>
      enter().then(
        () => true,
        (error: unknown) => !(error instanceof Refusal),
      )
    hub.watch({ workspaceId, personId: person.personId, reply, check })
  })
}
