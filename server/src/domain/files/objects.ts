import type { Db } from '../../db/db.ts'
import { subscriberOf } from '../../db/topic.ts'
import { claimUnused, forgetObjects, postponeObjects } from './objects.sql.ts'
import { fileStore } from './store.ts'

export { countOverdue, hasFilesInObjects } from './objects.sql.ts'

/** Requests to the store at a time, and rows of a statement. */
const batchSize = 16

/**
 * Deletes unused objects from the file store: of files past their retention, of files that were moved to the database, and of
 * uploads that did not end. An object is forgotten only after it was deleted, so one is deleted twice rather than never.
 */
export async function deleteUnusedObjects(db: Db): Promise<void> {
  const objects = subscriberOf(db, fileStore)
  if (!objects) return
  for (let isLast = false; !isLast; ) {
    const keys = await claimUnused(db, batchSize)
    isLast = keys.length < batchSize
    const results = await Promise.allSettled(keys.map((key) => objects.delete(key)))
    const failed = results.flatMap((result, at) =>
      result.status === 'rejected' ? [{ key: keys[at] as string, reason: result.reason as Error }] : [],
    )
    const failedKeys = failed.map(({ key }) => key)
    await forgetObjects(
      db,
      keys.filter((key) => !failedKeys.includes(key)),
    )
    if (!failed[0]) continue
    await postponeObjects(db, failedKeys)
    throw new Error(`${failed.length} objects could not be deleted: ${failed[0].reason.message}`)
  }
}
