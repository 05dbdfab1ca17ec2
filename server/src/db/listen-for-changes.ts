import type { Logger } from '../lib/logger.ts'
import { type ChangeNotice, changeChannel, readChangeNotices } from './change-notices.ts'
import type { Database } from './db.ts'
import type { Session } from './session.ts'

export interface Listening {
  /** Once it hears, or the first try to has failed. */
  ready: Promise<void>
  stop(): Promise<void>
}

/**
 * Hears what any process tells, over a connection of its own. When that is lost it comes back, and says that something may
 * have been missed.
 */
export function listenForChanges(
  db: Database,
  log: Logger,
  heard: (news: ChangeNotice) => void,
  missed: () => void,
): Listening {
  let session: Session | undefined
  let stopped = false
  let retry: NodeJS.Timeout | undefined

  async function open(first: boolean): Promise<void> {
    let opened: Session | undefined
    try {
      opened = await db.session()
      await opened.listen(changeChannel, (payload) => {
        for (const news of readChangeNotices(payload)) heard(news)
      })
      if (stopped) return await opened.close()
      // Only now: one that is lost before is seen to below, and two would come in its place.
      opened.onLost(() => again(0))
      session = opened
      if (!first) missed()
    } catch (error) {
      log.warn(
        { event: 'changes.listen_failed', err: error },
        'listening for changes of other processes failed; reconnecting',
      )
      await opened?.close().catch(() => {})
      again(1000)
    }
  }

  function again(waitMs: number): void {
    if (!stopped) retry = setTimeout(() => void open(false), waitMs).unref()
  }

  const opening = open(true)
  return {
    ready: opening,
    async stop() {
      stopped = true
      clearTimeout(retry)
      await opening
      await session?.close().catch(() => {})
    },
  }
}
