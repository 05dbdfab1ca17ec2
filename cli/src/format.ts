const timeFormat = new Intl.DateTimeFormat('en-US', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
})

/** Local time with its zone, such as `2026-11-15 08:16:06 GMT+1`. Options that take a time accept this format too. */
export function formatTime(time: Date | string): string {
  const parts = timeFormat.formatToParts(new Date(time))
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value
  const [date, clock] = [
    [get('year'), get('month'), get('day')],
    [get('hour'), get('minute'), get('second')],
  ]
  return `${date.join('-')} ${clock.join(':')} ${get('timeZoneName')}`
}

/** The local time of day, such as `08:16:06`, for lines that are printed as they happen. */
export const clockTime = (time: Date): string =>
  [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')

/** `1 sender`, `2 senders`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
