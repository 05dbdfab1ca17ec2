import type { Clock } from '../lib/clock.ts'
import { formatDuration } from '../lib/format-duration.ts'
import type { Logger } from '../lib/logger.ts'
import type { Db } from './db.ts'

/**
 * Notes the database's time, and says whether rows may be removed for their age: not within a day after a jump of more than a
 * day. The database's clock may have been set wrong, or the service was off; either way nothing is lost by waiting, and
 * the operator has a day to set the clock right. Called every minute, so that time which passes is not taken for a jump.
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
    const words = `The database's clock jumped ${formatDuration(Math.abs(jumpMs))} ${jumpMs > 0 ? 'forward' : 'back'}.`
    log.warn(
      { event: 'clock.jumped', jump_ms: Math.round(jumpMs) },
      `${words} Nothing expires for a day. If the clock is wrong, correct it before then.`,
    )
  }
  return steady
}
