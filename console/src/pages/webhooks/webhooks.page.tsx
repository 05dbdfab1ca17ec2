import {
  type Bounded,
  type ConsoleWebhook,
  type CreatedWebhook,
  webhookStates,
} from '@parley/contract/console/webhooks'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { formatNumber, formatPercent, plural } from '../../lib/format.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useFilters, useSearchParam } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { optionsOf } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Countdown, DurationCell, TimeAgo } from '../../ui/time.tsx'
import { Tip } from '../../ui/tip.tsx'
import { CreateWebhookDialog } from './create-webhook.tsx'
import { NewSecretDialog } from './new-secret.tsx'
import styles from './webhooks.module.css'
import { useWebhooks } from './webhooks.queries.ts'

export function WebhooksPage() {
  const here = useHere()
  const navigate = useNavigate()
  const mayManage = useCan('webhooks:manage')
  const filters = useFilters('q', 'state', 'from', 'to')
  const list = useWebhooks(filters)
  const [creating, setCreating] = useSearchParam('new')
  const [created, setCreated] = useState<CreatedWebhook | null>(null)
  const open = (id: string) => void navigate({ to: here.path(`webhooks/${id}`) })
  const actions = useMemo(
    () =>
      mayManage
        ? [{ id: 'create-webhook', title: 'Create webhook', keywords: 'endpoint', run: () => setCreating('1') }]
        : [],
    [mayManage, setCreating],
  )
  usePaletteActions(actions)
  const create = mayManage && (
    <Button kind="primary" icon="plus" onClick={() => setCreating('1')}>
      Create webhook
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Webhooks"
        detail="Parley sends signed events to your URLs. Events are retried while a URL is down and held while a webhook is disabled."
        actions={create}
      />
      <PageBody>
        <ListBar
          query={filters}
          noun={['webhook']}
          total={{ rows: list.rows?.length }}
          file="webhooks.csv"
          search={{ name: 'q', label: 'Search webhooks', placeholder: 'Name or URL' }}
          filters={[
            { kind: 'select', name: 'state', title: 'Status', options: optionsOf(webhookStates) },
            { kind: 'dates', title: 'Created' },
          ]}
        />
        <DataTable
          label="Webhooks"
          list={list}
          rowKey={(webhook) => webhook.id}
          onOpen={(webhook) => open(webhook.id)}
          columns={columnsFor((id) => here.path(`webhooks/${id}`))}
          empty={
            Object.keys(filters).length > 0 ? (
              <EmptyState icon="search" title="No matching webhooks">
                Remove a filter to see more.
              </EmptyState>
            ) : (
              <EmptyState icon="webhook" title="No webhooks yet" action={create}>
                {mayManage
                  ? 'Create a webhook to receive events in your system, such as incoming messages, delivery statuses and form submissions.'
                  : 'Ask an admin of this workspace to create one.'}
              </EmptyState>
            )
          }
        />
      </PageBody>
      {creating !== null && mayManage && (
        <CreateWebhookDialog
          onClose={() => setCreating(null)}
          onCreated={(next) => {
            setCreating(null)
            setCreated(next)
          }}
        />
      )}
      {created && <NewSecretDialog created={created} onClose={() => open(created.webhook.id)} />}
    </>
  )
}

const columnsFor = (pathOf: (id: string) => string): Column<ConsoleWebhook>[] => [
  {
    key: 'name',
    title: 'Webhook',
    cell: (webhook) => (
      <span className="lines">
        <PageLink to={pathOf(webhook.id)} className={styles.title}>
          <bdi>{webhook.name}</bdi>
        </PageLink>
        <bdi className={`${styles.url} mono`}>{webhook.url}</bdi>
      </span>
    ),
  },
  { key: 'state', title: 'Status', width: 150, cell: (webhook) => <State webhook={webhook} /> },
  {
    key: 'events',
    title: 'Events',
    width: 110,
    hideOn: 'tablet',
    cell: ({ events }) => (
      <Tip text={events.join(', ')}>
        <span>{plural(events.length, 'event')}</span>
      </Tip>
    ),
  },
  {
    key: 'success',
    title: 'Success rate (24 h)',
    width: 150,
    align: 'right',
    cell: (webhook) => <Success webhook={webhook} />,
  },
  {
    key: 'p95',
    title: 'Response time (p95)',
    width: 150,
    align: 'right',
    hideOn: 'tablet',
    cell: (webhook) => <DurationCell ms={webhook.recent.p95_ms} />,
  },
  { key: 'held', title: 'Held', width: 80, align: 'right', cell: (webhook) => <Counted of={webhook.held} /> },
  {
    key: 'last',
    title: 'Last attempt',
    width: 130,
    align: 'right',
    cell: (webhook) => <TimeAgo at={webhook.last_attempt_at} />,
  },
]

function State({ webhook: { state, failures, failures_max, next_attempt_at } }: { webhook: ConsoleWebhook }) {
  if (state !== 'failing') return <StatusBadge status={state} />
  return (
    <span className="lines">
      <StatusBadge status={state} />
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

function Success({ webhook }: { webhook: ConsoleWebhook }) {
  const { attempts, succeeded } = webhook.recent
  if (attempts === 0) return <span className="quiet">–</span>
  return (
    <Tip text={`${formatNumber(succeeded)} of ${formatNumber(attempts)} attempts`}>
      <span className="numbers">{formatPercent(succeeded / attempts)}</span>
    </Tip>
  )
}

function Counted({ of: { count, more } }: { of: Bounded }) {
  return <span className={count === 0 ? 'quiet numbers' : 'numbers'}>{`${formatNumber(count)}${more ? '+' : ''}`}</span>
}
