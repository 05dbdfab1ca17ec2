import type { Bounded, ConsoleWebhook } from '@parley/contract/console/webhooks'
import { formatNumber, formatPercent, formatShortTime, formatTimesIn, plural } from '../../lib/format.ts'
import { attemptSeries } from '../../parts/chart-steps.ts'
import type { Bar } from '../../ui/bar-chart.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { useIsCompact } from '../../ui/docked.ts'
import { PageLink } from '../../ui/link.tsx'
import { MiniBars } from '../../ui/mini-bars.tsx'
import { Countdown, DurationCell } from '../../ui/time.tsx'
import { Tip } from '../../ui/tip.tsx'
import { WebhookBadge } from './webhook-state.tsx'
import styles from './webhooks.module.css'

export const columnsFor = (pathOf: (id: string) => string): Column<ConsoleWebhook>[] => [
  {
    key: 'name',
    title: 'Webhook',
    cell: (webhook) => <Name webhook={webhook} path={pathOf(webhook.id)} />,
  },
  { key: 'state', title: 'Status', width: 150, cell: (webhook) => <State webhook={webhook} /> },
  {
    key: 'events',
    title: 'Events',
    width: 90,
    hideOn: 'tablet',
    cell: ({ events }) => (
      <Tip text={events.join(', ')}>
        <span>{plural(events.length, 'event')}</span>
      </Tip>
    ),
  },
  { key: 'day', title: 'Last 24 hours', width: 170, cell: (webhook) => <Day webhook={webhook} /> },
  {
    key: 'p95',
    title: 'Response time (p95)',
    width: 150,
    align: 'right',
    hideOn: 'tablet',
    cell: (webhook) => <DurationCell ms={webhook.recent.p95_ms} />,
  },
  {
    key: 'held',
    title: 'Held',
    width: 80,
    align: 'right',
    hideOn: 'phone',
    cell: (webhook) => <Counted of={webhook.held} />,
  },
  timeColumn('last', 'Last attempt', (webhook) => webhook.last_attempt_at),
]

/** Where a row has two lines, there is only space for the URL or the trouble. */
function Name({ webhook, path }: { webhook: ConsoleWebhook; path: string }) {
  const isCompact = useIsCompact()
  return (
    <span className="lines">
      <PageLink to={path} className={styles.title}>
        <bdi>{webhook.name}</bdi>
      </PageLink>
      {!(isCompact && webhook.state !== 'enabled') && <bdi className={`${styles.url} mono`}>{webhook.url}</bdi>}
      <Trouble webhook={webhook} />
    </span>
  )
}

/** Why a webhook is failing or was disabled, in words. The tooltip has the fix, or the whole reason. */
function Trouble({ webhook }: { webhook: ConsoleWebhook }) {
  const { state, last_failure, disabled_by_failures, disabled_reason, disabled_at } = webhook
  if (state === 'enabled') return null
  const reason = formatTimesIn(disabled_reason ?? '')
  const since = disabled_at && `Disabled ${formatShortTime(disabled_at)}`
  const isBad = state === 'failing' || disabled_by_failures
  const text = [since, (isBad && last_failure?.title) || reason].filter(Boolean).join(isBad ? '. ' : ': ')
  const detail = isBad ? [reason, last_failure?.remedy].filter(Boolean).join(' ') : reason
  return (
    <Tip text={detail}>
      <span className={`${styles.trouble} ${isBad ? styles.bad : ''}`}>{text}</span>
    </Tip>
  )
}

function State({ webhook }: { webhook: ConsoleWebhook }) {
  const { state, failures, failures_max, next_attempt_at } = webhook
  if (state !== 'failing') return <WebhookBadge webhook={webhook} />
  return (
    <span className="lines">
      <WebhookBadge webhook={webhook} />
      <span className="quiet small">
        {failures} of {failures_max}
        {next_attempt_at && (
          <>
            , next <Countdown at={next_attempt_at} />
          </>
        )}
      </span>
    </span>
  )
}

/** The attempts of each hour, and how many of them succeeded. */
function Day({ webhook: { recent } }: { webhook: ConsoleWebhook }) {
  const { attempts, succeeded, hours } = recent
  if (attempts === 0) return <span className="quiet">No attempts</span>
  const bars = hours.succeeded.map((count, index): Bar => {
    const values = { succeeded: count, failed: hours.failed[index] ?? 0 }
    return { key: String(index), label: '', values }
  })
  const label = `Last 24 hours: ${formatNumber(succeeded)} of ${plural(attempts, 'attempt')} succeeded`
  return (
    <span className={styles.day}>
      <MiniBars label={label} bars={bars} series={attemptSeries} width={96} />
      <span className="numbers">{formatPercent(succeeded / attempts)}</span>
    </span>
  )
}

function Counted({ of: { count, more } }: { of: Bounded }) {
  return <span className={count === 0 ? 'quiet numbers' : 'numbers'}>{`${formatNumber(count)}${more ? '+' : ''}`}</span>
}
