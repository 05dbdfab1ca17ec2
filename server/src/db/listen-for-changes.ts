import type { Logger } from '../lib/logger.ts'
import { type ChangeNotice, changeChannel, readChangeNotices } from './change-notices.ts'
import type { Database } from './db.ts'
import type { Session } from './session.ts'

/** A connection that only listens does not notice that it went silent, so it runs a statement this often. */
const checkEveryMs = 5_000

/** The `application_name` of the connection that listens. Each process has one. */
export const listenerName = 'parley listener'

export interface ChangeListener {
  /** Resolves when it listens, or when the first attempt has failed. */
  ready: Promise<void>
  stop(): Promise<void>
}

/**
 * Listens on its own connection for change notices of all processes. If the connection is lost, it reconnects and calls
 * `onMissed`, because notices may have been lost in between.
 */
export function listenForChanges(
  db: Database,
  log: Logger,
  onNotice: (notice: ChangeNotice) => void,
  onMissed: () => void,
): ChangeListener {
  let session: Session | undefined
  let stopped = false
  let retry: NodeJS.Timeout | undefined
  let isChecking = false
  const check = setInterval(async () => {
    if (isChecking) return
    isChecking = true
    // If it fails, the connection is lost, and `onLost` reconnects.
    await session?.rows('select 1').catch(() => {})
    isChecking = false
  }, checkEveryMs).unref()

  async function open(first: boolean): Promise<void> {
    let opened: Session | undefined
    try {
      opened = await db.session()
      await opened.rows(`set application_name = '${listenerName}'`)
      await opened.listen(changeChannel, (payload) => {
        for (const notice of readChangeNotices(payload)) onNotice(notice)
      })
      if (stopped) return await opened.close()
      // Registered last: an earlier loss is handled in the catch block, and would otherwise reconnect twice.
      opened.onLost(() => {
        session = undefined
        reconnect(0)
      })
      session = opened
      if (!first) onMissed()
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
      clearInterval(check)
      await opening
      await session?.close().catch(() => {})
    },
  }
}
