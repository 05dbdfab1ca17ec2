import { onTimeZone, timeZone, toTimeField } from './time-zone.ts'

/** Formats numbers, times and sizes for the reader's language and time zone. Pages show times with ui/time.tsx. */
export const locale = browserLocale()

const plain = new Intl.NumberFormat(locale)
const integer = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const oneDecimal = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const credits = new Intl.NumberFormat(locale, { maximumFractionDigits: 4 })
const utcDays = daysIn('UTC')
let times = timesIn(timeZone())
onTimeZone(() => {
  times = timesIn(timeZone())
})
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export const formatNumber = (value: number) => plain.format(value)
export const formatShort = (value: number) => compact.format(value)
export const formatCredits = (value: number) => credits.format(value)

/** A ratio between 0 and 1. Anything below 1 is at most 99.9 %, so that failures are not rounded away. */
export function formatPercent(ratio: number): string {
  const percent = ratio * 100
  const rounded = percent >= 99.95 && percent < 100 ? 99.9 : percent
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: rounded < 10 || rounded > 90 ? 1 : 0 }).format(rounded)}%`
}

/** 840 µs, 12 ms, 1.42 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. In a column of a table, use formatMs. */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)} s`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return twoParts(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  if (seconds < 86_400) return twoParts(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min')
  return twoParts(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h')
}

/** 0.8 ms, 12 ms, 1,420 ms: one unit, so that the rows of a column can be compared. */
export function formatMs(ms: number): string {
  if (ms > 0 && ms < 0.1) return `<${oneDecimal.format(0.1)} ms`
  return `${(ms < 10 ? oneDecimal : integer).format(ms)} ms`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const power = Math.min(4, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(1).replace(/\.0$/, '')} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`
}

export function exactTimeFormat(language: string, timeZone?: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    timeZone,
  })
}

/** Nov 16, 2026, 3:41:07 PM GMT+1: the local time with its zone. */
export const formatTime = (at: string | Date) => times.exact.format(new Date(at))

/** Nov 16, 3:41 PM: for charts and filters, where there is no space for the year and the zone. */
export const formatShortTime = (at: string | Date) => times.short.format(new Date(at))

/** 3:41 PM: under a heading that has the day. */
export const formatClock = (at: string | Date) => times.clock.format(new Date(at))

/** Nov 16, 2026 */
export const formatDay = (at: string | Date) => times.day.format(new Date(at))

/** Nov 16 */
export const formatShortDay = (at: string | Date) => times.shortDay.format(new Date(at))

/** A day of the API, 2026-11-16, which is a day in UTC. */
export const formatUtcDay = (utcDay: string) => utcDays.day.format(new Date(utcDay))
export const formatShortUtcDay = (utcDay: string) => utcDays.shortDay.format(new Date(utcDay))

/** 2026-11-16: the day in the time zone, as a date field has it. */
export const localDay = (at: Date) => toTimeField(at).slice(0, 10)

/** Shows the times in a text of the API in local time: "2026-11-16 03:12 UTC", or ISO in older texts. */
export const formatTimesIn = (text: string) =>
  text
    .replaceAll(/(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g, '$1T$2:00Z')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (iso) => formatTime(iso))

/** 2026-11-15 06:30:14.120 UTC: compares with logs and the API. */
export const formatUtc = (at: string | Date) => `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`

/** "now", "12 sec. ago", "in 3 min.", "yesterday". */
export function formatAgo(at: string | Date, now: number): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1000)
  const size = Math.abs(seconds)
  if (size < 5) return 'now'
  if (size < 60) return relative.format(seconds, 'second')
  if (size < 3600) return relative.format(Math.trunc(seconds / 60), 'minute')
  if (size < 86_400) return relative.format(Math.trunc(seconds / 3600), 'hour')
  if (size < 86_400 * 30) return relative.format(Math.trunc(seconds / 86_400), 'day')
  if (size < 86_400 * 365) return relative.format(Math.trunc(seconds / 86_400 / 30), 'month')
  return relative.format(Math.trunc(seconds / 86_400 / 365), 'year')
}

/** plural(3, 'key') is "3 keys". */
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

function timesIn(zone: string) {
  return {
    exact: exactTimeFormat(locale, zone),
    short: new Intl.DateTimeFormat(locale, {
      month: 'short',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZone: zone,
    }),
    clock: new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: zone }),
    ...daysIn(zone),
  }
}

function daysIn(zone: string) {
  return {
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: zone }),
    shortDay: new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: zone }),
  }
}

/** Some browsers report a locale that Intl rejects, such as en-US@posix. */
function browserLocale(): string {
  try {
    return Intl.getCanonicalLocales(navigator.language)[0] ?? 'en'
  } catch {
    return 'en'
  }
}

function twoParts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Turns a value of the API into text: `PENDING_DELETION` → Pending deletion. */
export const plainWord = (value: string) => capital(value.replaceAll('_', ' ').toLowerCase())
