import type { Logger } from '../telemetry/logger.ts'
import type { Session } from './connect/session.ts'
import type { Database } from './db.ts'
import { type ChangeNotice, changeChannel, readChangeNotices } from './notices/change-notices.ts'
import {
  announce,
  announcementChannel,
  listenerName,
  readAnnouncement,
  readNotice,
  workerChannel,
} from './notices/worker-notices.ts'
import { wakeHere } from './wake.ts'

/** A connection that only listens does not notice that it went silent, so it runs a statement this often. */
const checkEveryMs = 5_000

/** How often a process with workers announces itself. */
const announceEveryMs = 500

export interface ChangeListener {
  /** Resolves when it listens, or when the first attempt has failed. */
  ready: Promise<void>
  stop(): Promise<void>
}

/**
 * Listens on its own connection for change notices of all processes, for the announcements of processes with workers, and for
 * notices to the workers of this process. If the connection is lost, it reconnects and calls
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
  let isBusy = false
  let checkedMs = performance.now()
  const { otherWorkers } = db.process
  /** Announces the worker of this process, or checks the connection now and then. One statement at a time. */
  async function beat(): Promise<void> {
    const full = db.process.taker?.full()
    const isDue = full || performance.now() > checkedMs + checkEveryMs
    if (!session || isBusy || !isDue) return
    isBusy = true
    checkedMs = performance.now()
    const statement = full ? announce(session, { id: otherWorkers.ownId, full }) : session.rows('select 1')
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
        for (const notice of readChangeNotices(payload)) {
          onNotice(notice)
          for (const onChange of db.process.onChange) onChange(notice)
        }
      })
      await opened.listen(announcementChannel, (payload) => otherWorkers.onAnnouncement(readAnnouncement(payload)))
      await opened.listen(workerChannel(otherWorkers.ownId), (payload) => {
        const { wake, take } = readNotice(payload)
        for (const loop of wake) wakeHere(db, loop)
        if (take.length > 0) db.process.taker?.receive(take)
      })
      if (stopped) return await opened.close()
      // Registered last: an earlier loss is handled in the catch block, and would otherwise reconnect twice.
      opened.onLost(() => {
        session = undefined
        reconnect(0)
      })
      session = opened
      void beat()
      if (!first) {
        onMissed()
        for (const onChange of db.process.onChange) onChange(null)
      }
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
