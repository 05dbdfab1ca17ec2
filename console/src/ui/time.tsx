import { useNow, useSecondsUntil } from '../lib/clock.ts'
import { formatAgo, formatDuration, formatMs, formatShortTime, formatTime, formatUtc } from '../lib/format.ts'
import { Tip } from './tip.tsx'

/**
 * The only way in which pages show times. An exact time is local and names its zone; UTC is in the tooltip. A relative or
 * short time has both in the tooltip.
 */

interface TimeProps {
  at: string | null | undefined
  /** Shown when there is no time. */
  none?: string
}

/** "3 min. ago" or "in 2 hr."; updates by itself. */
export function TimeAgo({ at, none = 'Never' }: TimeProps) {
  const now = useNow()
  if (!at) return <span className="quiet">{none}</span>
  return (
    <Tip text={<LocalAndUtc at={at} />}>
      <time dateTime={at}>{formatAgo(at, now)}</time>
    </Tip>
  )
}

/** "in 4 s", every second, by the clock of the service; "now" once the time has come. */
export function Countdown({ at }: { at: string }) {
  const seconds = useSecondsUntil(at)
  const left = seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000)
  return (
    <Tip text={<LocalAndUtc at={at} />}>
      <time dateTime={at} className="numbers">
        {seconds === 0 ? 'now' : `in ${left}`}
      </time>
    </Tip>
  )
}

/** "Nov 16, 2026, 3:41:07 PM GMT+1", or with `short` "Nov 16, 3:41 PM". */
export function Moment({ at, none = '–', short = false }: TimeProps & { short?: boolean }) {
  if (!at) return <span className="quiet">{none}</span>
  return (
    <Tip text={short ? <LocalAndUtc at={at} /> : <span className="numbers">{formatUtc(at)}</span>}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the tooltip has to open by keyboard too */}
      <time dateTime={at} tabIndex={0}>
        {short ? formatShortTime(at) : formatTime(at)}
      </time>
    </Tip>
  )
}

const LocalAndUtc = ({ at }: { at: string }) => (
  <span className="lines numbers">
    <span>{formatTime(at)}</span>
    <span>{formatUtc(at)}</span>
  </span>
)

interface DurationProps {
  ms: number | null | undefined
  none?: string
}

/** A duration in the unit that reads best: 12 ms, 1.42 s, 3 min 20 s. In a column of a table, use DurationCell. */
export function Duration({ ms, none = '–' }: DurationProps) {
  if (ms === null || ms === undefined) return <span className="quiet">{none}</span>
  return <span className="numbers">{formatDuration(ms)}</span>
}

/** A duration in a column of a table: always milliseconds, so that the rows can be compared. */
export function DurationCell({ ms, none = '–' }: DurationProps) {
  if (ms === null || ms === undefined) return <span className="quiet">{none}</span>
  return <span className="numbers">{formatMs(ms)}</span>
}
