import { fromTimeField, toTimeField } from './time-zone.ts'

/** Time ranges to choose from. Days are those of the reader's time zone. `to` is missing for ranges that last until now. */
export const ranges: readonly { title: string; of(now: Date): { from: Date; to?: Date } }[] = [
  { title: 'Last hour', of: (now) => ({ from: hoursBefore(now, 1) }) },
  { title: 'Last 24 hours', of: (now) => ({ from: hoursBefore(now, 24) }) },
  { title: 'Last 7 days', of: (now) => ({ from: hoursBefore(now, 7 * 24) }) },
  { title: 'Last 30 days', of: (now) => ({ from: hoursBefore(now, 30 * 24) }) },
  { title: 'Today', of: (now) => ({ from: midnight(now, {}) }) },
  { title: 'Yesterday', of: (now) => ({ from: midnight(now, { days: -1 }), to: midnight(now, {}) }) },
  { title: 'This month', of: (now) => ({ from: midnight(now, { months: 0 }) }) },
  {
    title: 'Last month',
    of: (now) => ({ from: midnight(now, { months: -1 }), to: midnight(now, { months: 0 }) }),
  },
]

const hoursBefore = (now: Date, hours: number) => new Date(now.getTime() - hours * 3_600_000)

/** Midnight of a day, or of the first day of a month. By the calendar: the day on which clocks change does not have 24 hours. */
function midnight(now: Date, { days = 0, months }: { days?: number; months?: number }): Date {
  const [year = 0, month = 1, day = 1] = toTimeField(now).slice(0, 10).split('-').map(Number)
  const local = months === undefined ? Date.UTC(year, month - 1, day + days) : Date.UTC(year, month - 1 + months, 1)
  return fromTimeField(new Date(local).toISOString().slice(0, 16)) ?? now
}
