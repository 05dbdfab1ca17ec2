import type { Db } from '../../db/db.ts'

export type Direction = 'sent' | 'received'

export interface Progress {
  /** The last message that was looked at. */
  position: string
  beganAt: Date
}

/** Locked, because the caller is about to move it. */
export const lockProgress = (db: Db, direction: Direction): Promise<Progress | undefined> =>
  db.first('select position, began_at as "beganAt" from content_removals where direction = $1 for update', [direction])

export const saveProgress = (db: Db, direction: Direction, { position, beganAt }: Progress): Promise<number> =>
  db.change(
    `insert into content_removals (direction, position, began_at) values ($1, $2, $3)
     on conflict (direction) do update set position = excluded.position, began_at = excluded.began_at`,
    [direction, position, beganAt],
  )
