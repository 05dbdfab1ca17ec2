import type { Db } from './db.ts'

/** The tables of daily partitions, each with the column that says to which day a row belongs. */
const tables = [
  ['request_log', 'at'],
  ['refusal_hours', 'hour'],
  ['traffic_hours', 'hour'],
  ['events', 'created_at'],
  ['delivery_attempts', 'at'],
  ['delivery_hours', 'hour'],
] as const

/** Partitions for today and the days to come, and none past their retention. */
export async function turnPages(db: Db, now: Date, retentionDays: number): Promise<void> {
  // Days are days in UTC, whatever the time zone of this process.
  const today = now.toISOString().slice(0, 10)
  for (const [table, column] of tables) {
    await db.rows('select ensure_days($1, $2::date, 8)', [table, today])
    await db.rows('select drop_days($1, $2, $3::date - $4::int)', [table, column, today, retentionDays])
  }
}
