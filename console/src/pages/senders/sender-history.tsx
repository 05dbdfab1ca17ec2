import type { SenderChange } from '@parley/contract/console/senders'
import { plainWord } from '../../lib/format.ts'
import { qualityOf } from '../../parts/quality.tsx'
import type { IconName } from '../../ui/icon.tsx'
import type { Tone } from '../../ui/status-badge.tsx'
import { Timeline, type TimelineItem } from '../../ui/timeline.tsx'
import { toneOf } from './sender-state.tsx'

/** An event has the status before it, but not the rating: without an earlier event, only a change of the status is certain. */
export const isQualityChange = ({ status, previous_status, quality_rating, previous_quality_rating }: SenderChange) =>
  previous_quality_rating === null ? status === previous_status : previous_quality_rating !== quality_rating

/** When the status and the quality rating of a sender changed, and why. */
export function SenderHistory({ changes }: { changes: readonly SenderChange[] }) {
  if (changes.length === 0) return <p className="quiet">No change of the status or the quality is stored.</p>
  return <Timeline label="Changes" items={changes.map(itemOf)} />
}

const icons: Readonly<Record<Tone, IconName>> = {
  good: 'check',
  bad: 'cross',
  warn: 'warning',
  note: 'clock',
  calm: 'minusCircle',
}

function itemOf(change: SenderChange): TimelineItem {
  const { at, status, previous_status, quality_rating, previous_quality_rating, reason } = change
  const [word, qualityTone] = qualityOf(quality_rating)
  const before = previous_quality_rating === null ? '' : ` from ${qualityOf(previous_quality_rating)[0].toLowerCase()}`
  const isStatusChange = status !== previous_status
  const parts = [
    isStatusChange &&
      `Status changed from ${plainWord(previous_status).toLowerCase()} to ${plainWord(status).toLowerCase()}`,
    isQualityChange(change) && `Quality changed${before} to ${word.toLowerCase()}`,
  ]
  const tone = isStatusChange ? toneOf(status) : qualityTone
  return {
    key: at,
    title: parts.filter(Boolean).join('. '),
    at,
    tone,
    icon: icons[tone],
    children: reason && <bdi className="small quiet">{reason}</bdi>,
  }
}
