import type { TrafficRow } from '../requests/console.ts'

export const hourMs = 3_600_000

/** Codes with at least 20 errors in this hour and the last one, and more than three times the average of the day before. */
export function risingCodes(
  traffic: readonly TrafficRow[],
  thisHour: Date,
): { code: string; recent: number; usual: number }[] {
  const recentFrom = thisHour.getTime() - hourMs
  const byCode = Map.groupBy(
    traffic.filter((row): row is TrafficRow & { code: string } => row.code !== null),
    (row) => row.code,
  )
  return [...byCode].flatMap(([code, rows]) => {
    const sum = (isRecent: boolean) =>
      rows.filter(({ hour }) => hour.getTime() >= recentFrom === isRecent).reduce((all, { count }) => all + count, 0)
    const recent = sum(true)
    // The average of two hours over the 24 hours before.
    const usual = Math.round(sum(false) / 12)
    return recent >= 20 && recent > 3 * usual ? [{ code, recent, usual }] : []
  })
}
