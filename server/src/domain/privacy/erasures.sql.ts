import type { Db } from '../../db/db.ts'
import { insertion } from '../../db/statement.ts'

/** The erasure of a person. What identifies them is null when it has ended. */
export interface ErasureRow {
  id: string
  workspaceId: string
  askedBy: string
  askedAt: Date
  number: string | null
  userId: string | null
  /** All that are known of the person. Null before they were looked up. */
  numbers: string[] | null
  userIds: string[] | null
  endedAt: Date | null
  /** How many rows were changed or removed so far, by kind. */
  removed: Record<string, number>
}

const columns = `id, workspace_id as "workspaceId", asked_by as "askedBy", asked_at as "askedAt", number, user_id as "userId",
  numbers, user_ids as "userIds", ended_at as "endedAt", removed`

export const insertErasure = insertion('erasures', {
  id: 'uuid',
  workspaceId: 'uuid',
  askedBy: 'text',
  askedAt: 'timestamptz',
  stepAt: 'timestamptz',
  number: 'text',
  userId: 'text',
})

export const countOpenErasures = async (db: Db, workspaceId: string): Promise<number> =>
  (
    await db.first<{ count: number }>(
      'select count(*)::int as count from erasures where workspace_id = $1 and ended_at is null',
      [workspaceId],
    )
  )?.count ?? 0

/** Locks the erasure whose step is due longest. */
export const takeErasure = (db: Db, now: Date): Promise<ErasureRow | undefined> =>
  db.first(
    `select ${columns} from erasures where ended_at is null and step_at <= $1 order by step_at limit 1
     for update skip locked`,
    [now],
  )

/** Locks one erasure, and waits for a step that another process is taking. */
export const lockErasure = (db: Db, id: string): Promise<ErasureRow | undefined> =>
  db.first(`select ${columns} from erasures where id = $1 and ended_at is null for update`, [id])

export const erasureById = (db: Db, id: string): Promise<ErasureRow | undefined> =>
  db.first(`select ${columns} from erasures where id = $1`, [id])

/** The erasure of a person in progress, by one of their numbers or user IDs. A workspace has at most 100. */
export const openErasureOf = (db: Db, workspaceId: string, personId: string): Promise<ErasureRow | undefined> =>
  db.first(
    `select ${columns} from erasures
     where workspace_id = $1 and ended_at is null and $2 = any(array[number, user_id] || numbers || user_ids)
     order by asked_at desc limit 1`,
    [workspaceId, personId],
  )

export const newestErasures = (db: Db, workspaceId: string, take: number): Promise<ErasureRow[]> =>
  db.rows(`select ${columns} from erasures where workspace_id = $1 order by asked_at desc, id desc limit $2`, [
    workspaceId,
    take,
  ])

export const saveErasureStep = (
  db: Db,
  { id, numbers, userIds, removed }: Pick<ErasureRow, 'id' | 'numbers' | 'userIds' | 'removed'>,
  stepAt: Date,
): Promise<number> =>
  db.change('update erasures set numbers = $2, user_ids = $3, removed = $4, step_at = $5 where id = $1', [
    id,
    numbers,
    userIds,
    JSON.stringify(removed),
    stepAt,
  ])

export const endErasure = (db: Db, id: string, removed: Record<string, number>, now: Date): Promise<number> =>
  db.change(
    `update erasures set number = null, user_id = null, numbers = null, user_ids = null, removed = $2, ended_at = $3
     where id = $1`,
    [id, JSON.stringify(removed), now],
  )

/** The step failed. The others come first. */
export const postponeErasure = (db: Db, id: string, stepAt: Date): Promise<number> =>
  db.change('update erasures set step_at = $2 where id = $1 and ended_at is null', [id, stepAt])
