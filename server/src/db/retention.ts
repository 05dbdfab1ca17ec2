import type { Clock } from '../lib/clock.ts'
import { formatDuration } from '../lib/format.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Db } from './db.ts'

/**
 * Records the database's time, and returns whether expired rows may be deleted: not for one day after the time jumped
 * by more than a day. After such a jump the database's clock may be wrong, or the service was stopped. Waiting loses
 * nothing, and the operator has a day to correct the clock. Must be called every minute, so that normal time does not
 * look like a jump.
 */
export async function mayDeleteOld(db: Db, clock: Clock, log: Logger): Promise<boolean> {
  const mark = await db.first<{ jumpMs: number; steady: boolean }>(
    `with seen as (
       select seen_at, steady_since, coalesce($1::timestamptz, now()) as now from clock_marks for update
     ), marked as (
       select now, extract(epoch from now - seen_at) * 1000 as jump,
         case when abs(extract(epoch from now - seen_at)) > 86400 then now else steady_since end as steady_since
       from seen
     )
     update clock_marks c set seen_at = m.now, steady_since = m.steady_since from marked m
     returning m.jump::float8 as "jumpMs", m.steady_since <= m.now - interval '1 day' as steady`,
    [clock.pinned()],
  )
  const { jumpMs = 0, steady = false } = mark ?? {}
  if (Math.abs(jumpMs) > 86_400_000) {
    const message = `The database's clock jumped ${formatDuration(Math.abs(jumpMs))} ${jumpMs > 0 ? 'forward' : 'back'}.`
    log.warn(
      { event: 'clock.jumped', jump_ms: Math.round(jumpMs) },
      `${message} Nothing expires for a day. If the clock is wrong, correct it before then.`,
    )
  }
  return steady
}

/** Since when the database's clock has not jumped. Null if it never has. */
export const steadySince = async (db: Db): Promise<Date | null> =>
  (await db.first<{ at: Date }>('select steady_since as at from clock_marks where isfinite(steady_since)'))?.at ?? null
