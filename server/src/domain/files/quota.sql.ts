import { quotaExceeded } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { endFetch, type Leased } from './fetching.sql.ts'

/**
 * A file counts with at least this size. That limits the number of files of a workspace, whose sizes are summed up for each new
 * file.
 */
export const minCountedBytes = 128 * 1024

/** The files that count: stored files, and the reserved size of files that are being received. */
const counted = `state in ('fetching', 'fetched')`
const countedBytes = `greatest(size, ${minCountedBytes})`

/** Until the transaction has ended, others wait that want to know how much the workspace has stored. */
export const lockStored = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('uploads ' || $1, 0))`, [workspaceId])
}

/** The size of all files of a workspace, except the given file that is being received. */
export const storedBytes = async (db: Db, workspaceId: string, exceptId: string | null = null): Promise<number> => {
  const row = await db.first<{ bytes: number }>(
    `select coalesce(sum(${countedBytes}) filter (where id is distinct from $2), 0)::bigint as bytes
     from flow_files where workspace_id = $1 and ${counted}`,
    [workspaceId, exceptId],
  )
  return row?.bytes ?? 0
}

/** The workspaces whose files take at least `minBytes`, most first. */
export const fullestWorkspaces = (db: Db, minBytes: number): Promise<{ workspaceId: string; bytes: number }[]> =>
  db.rows(
    `select workspace_id as "workspaceId", sum(${countedBytes})::bigint as bytes from flow_files where ${counted}
     group by workspace_id having sum(${countedBytes}) >= $1 order by bytes desc`,
    [minBytes],
  )

/** Says how much a file that is being fetched may take. */
export const setReserved = (tx: Db, { id, lease }: Leased, size: number): Promise<number> =>
  tx.change(`update flow_files set size = $3 where id = $1 and lease = $2 and state = 'fetching'`, [id, lease, size])

/** Lets a file wait until there is space. After its last chance it is due, to be given up. This attempt does not count. */
export const recordOverQuota = (db: Db, file: Leased, size: number): Promise<number> =>
  endFetch(
    db,
    file,
    `update flow_files set state = 'waiting', lease = null, due_at = try_until, last_error = '${quotaExceeded}', size = $3,
       attempts = attempts - 1`,
    [size],
  )

/** Makes the files due that wait for space and fit together, in the order in which the network deletes them. A poll finds them. */
export const makeFittingDue = (db: Db, maxStoredBytes: number, now: Date): Promise<number> =>
  db.change(
    `with waiting as (
       select id, workspace_id, ${countedBytes} as bytes, try_until from flow_files
       where state = 'waiting' and last_error = '${quotaExceeded}' and due_at > $2
     ), space as (
       select workspace_id, $1::bigint - (select coalesce(sum(${countedBytes}), 0) from flow_files f
         where f.workspace_id = w.workspace_id and ${counted}) as bytes
       from (select distinct workspace_id from waiting) w
     ), fitting as (
       select id, sum(w.bytes) over (partition by workspace_id order by try_until, id) <= r.bytes as fits
       from waiting w join space r using (workspace_id) where w.bytes <= r.bytes
     )
     update flow_files f set due_at = $2 from fitting where f.id = fitting.id and fits and f.state = 'waiting'`,
    [maxStoredBytes, now],
  )
