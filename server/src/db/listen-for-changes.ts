import type { Logger } from '../telemetry/logger.ts'
import type { Session } from './connect/session.ts'
import type { Database } from './db.ts'
import { changeChannel, listenerName, type OnChange, readChangeNotices } from './notices/change-notices.ts'

/** A connection that only listens does not notice that it went silent, so it runs a statement this often. */
const checkEveryMs = 5_000

const announceEveryMs = 500

/** Other tasks of the listening connection. */
export interface MoreToListen {
  /** The handlers of other channels. */
  channels: Readonly<Record<string, (payload: string) => void>>
  /** Runs a statement that announces this process to others; null if there is nothing to announce. */
  announce(session: Session): Promise<unknown> | null
}

export interface ChangeListener {
  /** Resolves when it listens, or when the first attempt has failed. */
  ready: Promise<void>
  stop(): Promise<void>
}

/**
 * Listens on its own connection for change notices of all processes. If the connection is lost, it reconnects and passes on null,
 * because notices may have been lost in between.
 */
export function listenForChanges(
  db: Database,
  log: Logger,
  changes: Iterable<OnChange>,
  more: MoreToListen | null = null,
): ChangeListener {
  let session: Session | undefined
  let stopped = false
  let retry: NodeJS.Timeout | undefined
  let isBusy = false
  let checkedMs = performance.now()
  /** Announces this process, or checks the connection now and then. One statement at a time. */
  async function beat(): Promise<void> {
    if (!session || isBusy) return
    const isDue = performance.now() > checkedMs + checkEveryMs
    const statement = more?.announce(session) ?? (isDue ? session.rows('select 1') : null)
    if (!statement) return
    isBusy = true
    checkedMs = performance.now()
    // If it fails, the connection is lost, and `onLost` reconnects.
    await statement.catch(() => {})
    isBusy = false
  }
  const beating = setInterval(() => void beat(), announceEveryMs).unref()

  async function open(first: boolean): Promise<void> {
    let opened: Session | undefined
    try {
      opened = await db.session()
      await opened.rows(`set application_name = '${listenerName}'`)
      await opened.listen(changeChannel, (payload) => {
        for (const notice of readChangeNotices(payload)) for (const onChange of changes) onChange(notice)
      })
      for (const [channel, onNotice] of Object.entries(more?.channels ?? {})) await opened.listen(channel, onNotice)
      if (stopped) return await opened.close()
      // Registered last: an earlier loss is handled in the catch block, and would otherwise reconnect twice.
      opened.onLost(() => {
        session = undefined
        reconnect(0)
      })
      session = opened
      void beat()
      if (!first) for (const onChange of changes) onChange(null)
    } catch (error) {
      log.warn(
        { event: 'changes.listen_failed', err: error },
        'listening for changes of other processes failed; reconnecting',
      )
      await opened?.close().catch(() => {})
      reconnect(1000)
    }
  }

  function reconnect(waitMs: number): void {
    if (!stopped) retry = setTimeout(() => void open(false), waitMs).unref()
  }

  const opening = open(true)
  return {
    ready: opening,
    async stop() {
      stopped = true
      clearTimeout(retry)
      clearInterval(beating)
      await opening
      await session?.close().catch(() => {})
    },
  }
}
