import { useNow } from '../lib/clock.ts'
import { formatAgo, formatDuration, formatTime, formatUtc } from '../lib/format.ts'
import { Tip } from './tip.tsx'

/** How long ago (or until when), with the exact time on hover and focus. It keeps counting. */
export function TimeAgo({ at, none = 'never' }: { at: string | null | undefined; none?: string }) {
  const now = useNow()
  if (!at) return <span className="quiet">{none}</span>
  return (
    <Tip words={<span className="numbers">{formatUtc(at)}</span>}>
      <time dateTime={at}>{formatAgo(at, now)}</time>
    </Tip>
  )
}

/** The exact time in the reader's own zone; UTC on hover. */
export function Moment({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  if (!at) return <span className="quiet">{none}</span>
  return (
    <Tip words={<span className="numbers">{formatUtc(at)}</span>}>
      <time dateTime={at}>{formatTime(at)}</time>
    </Tip>
  )
}

/** A span of time: 12 ms, 1.42 s, 3 min 20 s. */
export function Duration({ ms, none = '–' }: { ms: number | null | undefined; none?: string }) {
  if (ms === null || ms === undefined) return <span className="quiet">{none}</span>
  return <span className="numbers">{formatDuration(ms)}</span>
}
