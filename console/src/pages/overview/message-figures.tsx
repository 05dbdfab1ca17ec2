import { formatNumber } from '../../lib/format.ts'
import { barsOf, sum } from '../../parts/chart-steps.ts'
import { BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { pointsOf } from './change.ts'
import { messageCounts, percentage, ratio } from './counts.ts'
import { FigureCard, Plot, plotHeight } from './figure-card.tsx'
import type { Scope } from './scope.ts'

const trafficSeries: readonly Series[] = [
  { key: 'out', title: 'Sent', tone: 'accent' },
  { key: 'received', title: 'Received', tone: 'note' },
]

const resultSeries: readonly Series[] = [
  { key: 'arrived', title: 'Delivered', tone: 'good' },
  { key: 'open', title: 'On the way', tone: 'calm' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

const directions: Record<string, string> = { out: 'direction=sent&', received: 'direction=received&' }
const statuses: Record<string, string> = {
  arrived: 'status=delivered,read&',
  open: 'status=queued,sent&',
  failed: 'status=failed&',
}

/** Messages in and out, and the results of the sent messages. */
export function MessageFigures({
  scope: { overview, past, steps, period, path, open, span, compared },
}: {
  scope: Scope
}) {
  const messages = messageCounts(overview)
  const pastMessages = past && messageCounts(past)
  const shareOf = ({ arrived, open: onTheWay, failed }: ReturnType<typeof messageCounts>) =>
    ratio(arrived, onTheWay, failed)
  return (
    <>
      <FigureCard
        title="Messages"
        figures={[
          {
            label: 'Sent',
            value: formatNumber(sum(messages.out)),
            to: path(`messages?direction=sent&${period}`),
            change: compared(messages.out, pastMessages?.out),
          },
          {
            label: 'Received',
            value: formatNumber(sum(messages.received)),
            to: path(`messages?direction=received&${period}`),
            change: compared(messages.received, pastMessages?.received),
          },
        ]}
      >
        <Plot counts={messages} series={trafficSeries} empty="No messages in this period">
          <BarChart
            label="Messages sent and received"
            bars={barsOf(steps, messages)}
            series={trafficSeries}
            height={plotHeight}
            onOpen={(bar, series) => open(`messages?${directions[series ?? ''] ?? ''}${span(bar)}`)}
          />
        </Plot>
      </FigureCard>
      <FigureCard
        title="Delivery"
        figures={[
          {
            label: 'Delivered',
            value: percentage(shareOf(messages)),
            to: path(`messages?status=delivered,read&${period}`),
            change: pointsOf(shareOf(messages), pastMessages ? shareOf(pastMessages) : null),
            more: 'good',
          },
          {
            label: 'Failed',
            value: formatNumber(sum(messages.failed)),
            to: path(`messages?status=failed&${period}`),
            change: compared(messages.failed, pastMessages?.failed),
            more: 'bad',
          },
        ]}
      >
        <Plot counts={messages} series={resultSeries} empty="Nothing sent in this period">
          <BarChart
            label="Messages sent, by result"
            bars={barsOf(steps, messages)}
            series={resultSeries}
            height={plotHeight}
            onOpen={(bar, series) => open(`messages?${statuses[series ?? ''] ?? 'direction=sent&'}${span(bar)}`)}
          />
        </Plot>
      </FigureCard>
    </>
  )
}
