import type { Db } from '../../db/db.ts'
import { subscriberOf } from '../../db/topic.ts'
import { ObjectStoreError } from '../../net/object-store.ts'
import { countOverdue, hasFilesInObjects } from '../files/objects.ts'
import { fullestWorkspaces } from '../files/quota.ts'
import { fileStore } from '../files/store.ts'
import { listWorkspaces } from '../workspaces/workspaces.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

/** Unused objects are deleted every ten minutes, and again an hour after that failed. */
const overdueHours = 24

/** `isOnline` if the file store may be called. */
export async function checkFiles(db: Db, isOnline: boolean): Promise<Finding> {
  const objects = subscriberOf(db, fileStore)
  if (!objects) {
    if (!(await hasFilesInObjects(db))) return ok('files', 'Files are in the database.')
    return problem('files', 'Files are in a file store, and PARLEY_FILES_URL is not set.', {
      effect: 'Requests for these files get 503. Those past their retention stay in the store.',
      remedy:
        'Set PARLEY_FILES_URL. To do without it, first run "./parley files move --to database" with PARLEY_NEW_FILES=database.',
    })
  }
  try {
    if (isOnline) await objects.check()
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error
    return problem('files', `The file store ${objects.name} failed: ${error.message}.`, {
      effect: 'Requests for files in it get 503. New files stay in the database until it works.',
      remedy: 'Check PARLEY_FILES_URL, its credentials and what they permit: to read, write and delete objects.',
    })
  }
  if (!isOnline && objects.isDown) {
    return problem('files', `The last request of this process to the file store ${objects.name} failed.`, {
      effect: 'Requests for files in it get 503. New files stay in the database until it works.',
      remedy: 'Run "./parley doctor", or search the log for "files.store_failed".',
    })
  }
  const overdue = await countOverdue(db, overdueHours)
  if (overdue > 0) {
    return warning('files', `${count(overdue, 'object')} in ${objects.name} should be deleted for more than a day.`, {
      effect: 'Files past their retention, and those that were moved to the database, still use space in the store.',
      remedy: 'Search the log for "files.store_failed", and check that the credentials may delete objects.',
    })
  }
  return ok('files', isOnline ? `${objects.name} can be written and read.` : `Files are in ${objects.name}.`)
}

/** Warns before the quota is reached. */
const warningShare = 0.8

export async function checkStorage(db: Db, maxStoredBytes: number): Promise<Finding> {
  const full = await fullestWorkspaces(db, warningShare * maxStoredBytes)
  if (full.length === 0) return ok('file storage', 'No workspace has used 80 % of its storage quota.')
  const names = new Map((await listWorkspaces(db)).map(({ id, name }) => [id, name]))
  return warning('file storage', `${count(full.length, 'workspace')} with 80 % of the storage quota used.`, {
    details: full.map(
      ({ workspaceId, bytes }) =>
        `${workspaceId} ${names.get(workspaceId)}: ${Math.floor((100 * bytes) / maxStoredBytes)} % of ${maxStoredBytes / 1_000_000} MB`,
    ),
    effect:
      'Beyond the quota, uploads get 413. Received files are not downloaded until there is space; WhatsApp keeps them for 7 days.',
    remedy: 'Raise PARLEY_MEDIA_MB_PER_WORKSPACE, or lower PARLEY_RETENTION_DAYS.',
  })
}
