import { countedPerStep, type SenderActivity } from '@parley/contract/console/senders'
import { useNavigate } from '@tanstack/react-router'
import { formatNumber } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { barsOf, stepsOf, sum } from '../../parts/chart-steps.ts'
import { periodLabels } from '../../parts/period.tsx'
import { BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import styles from './sender.module.css'

const allSeries: readonly Series[] = [
  { key: 'received', title: 'Received', tone: 'note' },
  { key: 'sent', title: 'Sent', tone: 'accent' },
  { key: 'queued', title: 'Queued', tone: 'calm' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

const filters: Readonly<Record<string, string>> = {
  received: '&direction=received',
  sent: '&status=sent,delivered,read',
  queued: '&status=queued',
  failed: '&status=failed',
}

/** "120 sent, 3 failed, 48 received" */
export function volumeText({ sent, failed, received, has_more }: SenderActivity): string {
  const counts = [`${formatNumber(sum(sent))} sent`, `${formatNumber(sum(failed))} failed`]
  const text = [...counts, `${formatNumber(sum(received))} received`].join(', ')
  return has_more ? `At least ${text}. A bar counts ${formatNumber(countedPerStep)} of a kind at most.` : text
}

/** The messages of a sender by time and result. A bar opens its messages. */
export function SenderVolume({ id, activity }: { id: string; activity: SenderActivity }) {
  const here = useHere()
  const navigate = useNavigate()
  const steps = stepsOf(activity)
  const total = sum(allSeries.map(({ key }) => sum(activity[key as 'sent'])))
  if (total === 0) return <p className={styles.none}>No messages in the last {periodLabels[activity.period]}</p>
  return (
    <BarChart
      label="Messages of this sender"
      bars={barsOf(steps, activity)}
      series={allSeries.filter(({ key }) => key !== 'queued' || sum(activity.queued) > 0)}
      onOpen={(bar, result) => {
        const step = steps.find(({ key }) => key === bar.key)
        const span = step ? `&from=${step.from}&to=${step.to}` : ''
        void navigate({ href: here.path(`messages?sender=${id}${filters[result ?? ''] ?? ''}${span}`) })
      }}
    />
  )
}
