/**
 * The time zone of every time on the console: the one of the person's account, or else the browser's. The shell sets it
 * before it renders a page.
 */
let chosen: string | undefined
const listeners = new Set<() => void>()

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export const timeZone = (): string => chosen ?? browserZone()

/** A zone that this browser does not know counts as none. */
export function setTimeZone(name: string | null): void {
  const next = name !== null && isKnown(name) ? name : undefined
  if (next === chosen) return
  chosen = next
  for (const listener of listeners) listener()
}

/** Called when the zone has changed. */
export const onTimeZone = (listener: () => void) => void listeners.add(listener)

function isKnown(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/** The value of a date and time field, "2026-11-16T15:41", in the time zone. */
export function toTimeField(at: Date): string {
  return new Date(at.getTime() + offsetAt(at.getTime())).toISOString().slice(0, 16)
}

/** The time of a field, entered in the time zone. Null if it is empty or invalid. */
export function fromTimeField(text: string): Date | null {
  const asUtc = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d/.test(text) ? Date.parse(`${text}Z`) : Number.NaN
  if (Number.isNaN(asUtc)) return null
  // The offset may change between the first guess and the result, around a change of daylight saving time.
  const guess = asUtc - offsetAt(asUtc)
  return new Date(asUtc - offsetAt(guess))
}

/** How many milliseconds the zone is ahead of UTC at a time. */
function offsetAt(time: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timeZone(),
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(time)
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value)
  const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return local - Math.floor(time / 1000) * 1000
}
