/** How numbers, times and sizes are written, in the reader's own language and time zone. */
const locale = readersLocale()

const plain = new Intl.NumberFormat(locale)
const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const creditWords = new Intl.NumberFormat(locale, { maximumFractionDigits: 4 })
const dayAndTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
const shortDayAndTime = new Intl.DateTimeFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export const formatNumber = (value: number) => plain.format(value)
export const formatShort = (value: number) => short.format(value)
export const formatCredits = (value: number) => creditWords.format(value)

/** A share between 0 and 1. Never rounds a failure away: 99.96 % is not 100 %. */
export function formatPercent(share: number): string {
  const percent = share * 100
  const rounded = percent >= 99.95 && percent < 100 ? 99.9 : percent
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: rounded < 10 || rounded > 90 ? 1 : 0 }).format(rounded)}%`
}

/** 840 µs, 12 ms, 1.42 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
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

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const power = Math.min(4, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(1).replace(/\.0$/, '')} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`
}

export const formatTime = (at: string | Date) => dayAndTime.format(new Date(at))
export const formatShortTime = (at: string | Date) => shortDayAndTime.format(new Date(at))
export const formatDay = (at: string | Date) => day.format(new Date(at))

/** 2026-11-15 06:30:14.120 UTC: what one pastes into a ticket. */
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

/** One or many: plural(3, 'key') is "3 keys". */
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

/** Some browsers report a locale, such as en-US@posix, that Intl does not take. */
function readersLocale(): string {
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

/** A word of the API as people write it: `PENDING_DELETION` → Pending deletion. */
export const plainWord = (word: string) => capital(word.replaceAll('_', ' ').toLowerCase())
