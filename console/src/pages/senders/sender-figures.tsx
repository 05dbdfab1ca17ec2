import { peopleOf, type SenderActivity, type SenderDetail } from '@parley/contract/console/senders'
import { formatNumber, formatPercent, plural } from '../../lib/format.ts'
import { sum } from '../../parts/chart-steps.ts'
import { periodLabels } from '../../parts/period.tsx'
import { Quality } from '../../parts/quality.tsx'
import { Meter, Stat, Stats } from '../../ui/figures.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './sender.module.css'
import { isQualityChange } from './sender-history.tsx'
import { limitText, paceText } from './sender-state.tsx'

type LastDay = SenderActivity['last_day'] | undefined

/** Quality, limits with what is used of them, and the last messages. */
export function SenderFigures({ sender, activity }: { sender: SenderDetail; activity: SenderActivity | undefined }) {
  const changed = sender.changes.find(isQualityChange)
  const lastDay = activity?.last_day
  const pace = paceText(sender)
  return (
    <Stats>
      <Stat
        label="Quality"
        value={<Quality rating={sender.quality_rating} />}
        detail={
          changed ? (
            <>
              Changed <TimeAgo at={changed.at} />
            </>
          ) : (
            'No change stored'
          )
        }
      />
      <Stat
        label="Messaging limit"
        value={limitText(sender) ?? '–'}
        detail={<UsedLimit people={peopleOf(sender.messaging_limit)} lastDay={lastDay} />}
      />
      <Stat label="Throughput" value={pace === null ? '–' : `${pace}/s`} detail={<Peak lastDay={lastDay} />} />
      <Failures activity={activity} />
      <Stat label="Last sent" value={<TimeAgo at={sender.last_sent_at} />} detail="By API or console" />
      <Stat label="Last received" value={<TimeAgo at={sender.last_received_at} />} detail="From any contact" />
    </Stats>
  )
}

/** A text, and not a skeleton: it is as high as what replaces it. */
const counting = 'Counting…'

const orMore = (count: number, more: boolean) => `${formatNumber(count)}${more ? '+' : ''}`

/**
 * An upper bound: people who wrote within these hours do not use the limit, but finding them would take a lookup for each
 * message.
 */
function UsedLimit({ people, lastDay }: { people: number | null; lastDay: LastDay }) {
  const share = people === null || !lastDay ? 0 : lastDay.people / people
  return (
    <span className={styles.used}>
      <span>People in 24 hours</span>
      <span>{lastDay ? `At most ${orMore(lastDay.people, lastDay.has_more)} used` : counting}</span>
      {people !== null && people !== Number.POSITIVE_INFINITY && (
        <Meter
          value={share}
          label="Share of the messaging limit that is used"
          tone={share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'accent'}
        />
      )}
    </span>
  )
}

function Failures({ activity }: { activity: SenderActivity | undefined }) {
  if (!activity) return <Stat label="Failed" value={undefined} detail={counting} />
  const [sent, failed] = [sum(activity.sent), sum(activity.failed)]
  return (
    <Stat
      label={`Failed (${periodLabels[activity.period]})`}
      value={sent + failed === 0 ? '–' : formatPercent(failed / (sent + failed))}
      detail={`${formatNumber(failed)} of ${plural(sent + failed, 'message')}`}
    />
  )
}

function Peak({ lastDay }: { lastDay: LastDay }) {
  return lastDay ? `Peak in 24 hours: ${formatNumber(lastDay.peak_per_second)}/s` : counting
}
