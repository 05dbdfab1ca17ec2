import { onTestFinished } from 'vitest'
import type { Database } from '../src/db/db.ts'
import {
  announcementChannel,
  readAnnouncement,
  readNotice,
  type WorkerNotice,
  workerChannel,
} from '../src/domain/deliveries/engine/publish/worker-notices.ts'

/** Listens to the notices that the processes of a test send to their workers. */
export async function watchWorkerNotices(db: Database) {
  const session = await db.session()
  onTestFinished(() => session.close())
  const workers = new Set<string>()
  const notices: Required<WorkerNotice>[] = []
  await session.listen(announcementChannel, (payload) => {
    const { id } = readAnnouncement(payload)
    if (workers.has(id)) return
    workers.add(id)
    void session.listen(workerChannel(id), (notice) => void notices.push(readNotice(notice)))
  })
  return {
    /** The IDs of the workers that were announced so far. */
    workers,
    wakes: () => notices.flatMap(({ wake }) => wake),
  }
}
