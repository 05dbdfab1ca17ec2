import type { Delivery } from '@parley/contract/console/deliveries'
import { testEventType } from '@parley/contract/events'
import { plural } from '../../lib/format.ts'
import { useLast } from '../../lib/last.ts'
import { useCan } from '../../lib/session.ts'
import { useFilters, useSearchParam } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { useIsCompact } from '../../ui/docked.ts'
import type { Filter } from '../../ui/filter-bar.tsx'
import { SafeText } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { DurationCell, TimeAgo } from '../../ui/time.tsx'
import { Tip } from '../../ui/tip.tsx'
import { ListBar } from '../list-bar.tsx'
import { Outcome } from './attempts.tsx'
import styles from './deliveries.module.css'
import { useDeliveries } from './deliveries.queries.ts'
import { DeliveryBars } from './delivery-bars.tsx'
import { DeliveryDrawer } from './delivery-drawer.tsx'
import { useDeliveryTabs } from './delivery-tabs.ts'
import { eventChoices } from './events.ts'
import { nameOf, SelectedActions } from './selected-actions.tsx'
import { useSelection } from './selection.ts'
import { isOpen, WaitingTime } from './waiting-time.tsx'

/** A state without a tab, for example after a click on a bar. */
const stateFilter: Filter = {
  kind: 'select',
  name: 'state',
  title: 'Status',
  options: [
    { value: 'waiting', title: 'Pending or retrying' },
    { value: 'held', title: 'Held' },
    { value: 'delivered', title: 'Delivered' },
    { value: 'failed', title: 'Failed' },
  ],
}

const filters: Filter[] = [
  {
    kind: 'select',
    name: 'type',
    title: 'Event type',
    options: [...eventChoices.map(({ value }) => value), testEventType].map((value) => ({ value, title: value })),
  },
  { kind: 'text', name: 'event', title: 'Event ID', placeholder: '0199b2f4-6c1e-7a53-…' },
  { kind: 'dates', title: 'Time', names: ['since', 'until'] },
]

interface DeliveryListProps {
  /** Only deliveries to this webhook. Without it, there is a filter for the webhook. */
  webhookId?: string
  webhooks?: readonly { id: string; name: string }[]
}

/** The table of deliveries with tabs, filters and bars, a drawer for the open one, and a retry for selected ones. */
export function DeliveryList({ webhookId, webhooks = [] }: DeliveryListProps) {
  const chosen = useFilters('state', 'type', 'event', 'since', 'until', 'webhook')
  const query = { ...chosen, ...(webhookId ? { webhook: webhookId } : {}) }
  const list = useDeliveries(query)
  const tabs = useDeliveryTabs(query)
  const [open, setOpen] = useSearchParam('open', { push: true })
  const selection = useSelection(query, list.rows?.map(keyOf) ?? [])
  const mayRetry = useCan('deliveries:retry')
  const webhookFilter: Filter[] = webhookId
    ? []
    : [
        {
          kind: 'select',
          name: 'webhook',
          title: 'Webhook',
          options: webhooks.map(({ id, name }) => ({ value: id, title: name })),
          // One webhook needs no filter. A link may still have set it.
          onlyIfSet: webhooks.length < 2,
        },
      ]
  const isNarrowed = Object.keys(chosen).length > 0
  const shown = useLast(open)
  return (
    <>
      <div className={styles.tabs}>
        <Tabs label="Deliveries by status" {...tabs} />
      </div>
      <TabPanel name={tabs.value}>
        <ListBar
          filters={[...webhookFilter, ...(tabs.value === 'all' && chosen.state ? [stateFilter] : []), ...filters]}
          query={query}
          noun={['delivery', 'deliveries']}
          total={{ path: 'deliveries', topics: ['deliveries'], shown: list.rows?.length ?? 0 }}
          file="deliveries.csv"
        />
        <DeliveryBars query={query} />
        <DataTable
          label="Deliveries"
          list={list}
          rowKey={keyOf}
          onOpen={(delivery) => setOpen(keyOf(delivery))}
          openKey={open}
          columns={columnsFor(webhookId === undefined)}
          {...(mayRetry ? { selected: selection.keys, onSelect: selection.choose } : {})}
          selectedActions={
            selection.keys.size > 0 && <SelectedActions selection={selection} query={query} rows={list.rows ?? []} />
          }
          empty={
            list.hasMore ? (
              <EmptyState
                icon="delivery"
                title="No matches in the newest deliveries"
                action={
                  <Button busy={list.isLoadingMore} onClick={list.loadMore}>
                    Search older deliveries
                  </Button>
                }
              >
                Older deliveries may match. Filter by time to search faster.
              </EmptyState>
            ) : (
              <EmptyState icon="delivery" title={isNarrowed ? 'No matching deliveries' : 'No deliveries yet'}>
                {isNarrowed
                  ? emptyTexts[tabs.value]
                  : 'Deliveries appear here as soon as an event occurs that a webhook is subscribed to.'}
              </EmptyState>
            )
          }
        />
      </TabPanel>
      {shown && <DeliveryDrawer open={open !== null} name={nameOf(shown)} onClose={() => setOpen(null)} />}
    </>
  )
}

const emptyTexts = {
  failed: 'None has failed permanently. Failed attempts that are retried are under Retrying.',
  held: 'Events are held while their webhook is disabled.',
  waiting: 'Nothing waits for its first attempt or a retry.',
  all: 'Remove a filter to see more.',
} as const

const keyOf = ({ event_id, webhook_id }: Pick<Delivery, 'event_id' | 'webhook_id'>) => `${event_id}.${webhook_id}`

const columnsFor = (withWebhook: boolean): Column<Delivery>[] => [
  {
    key: 'event',
    title: 'Event',
    cell: (delivery) => (
      <span className="lines">
        <span className="mono">{delivery.event_type ?? 'Deleted event'}</span>
        <span className={`${styles.id} mono`}>{delivery.event_id}</span>
      </span>
    ),
  },
  ...(withWebhook
    ? [
        {
          key: 'webhook',
          title: 'Webhook',
          width: 180,
          cell: (delivery: Delivery) => <SafeText className="clip">{delivery.webhook_name}</SafeText>,
        },
      ]
    : []),
  {
    key: 'state',
    title: 'Status',
    width: 150,
    cell: (delivery) => <Status delivery={delivery} />,
  },
  {
    key: 'response',
    title: 'Last response',
    width: 150,
    cell: (delivery) =>
      delivery.attempts === 0 ? (
        <span className="quiet">–</span>
      ) : (
        <Outcome attempt={{ status: delivery.last_status, error: delivery.last_error }} />
      ),
  },
  {
    key: 'duration',
    title: 'Duration',
    width: 90,
    align: 'right',
    hideOn: 'tablet',
    cell: (delivery) => <DurationCell ms={delivery.last_duration_ms} />,
  },
  {
    key: 'attempts',
    title: 'Attempt',
    width: 90,
    align: 'right',
    hideOn: 'tablet',
    cell: ({ attempt, attempts, attempts_max }) => (
      <Tip text={plural(attempts, 'attempt')}>
        <span className="numbers">{attempt === 0 ? '–' : `${attempt} of ${attempts_max}`}</span>
      </Tip>
    ),
  },
  timeColumn('created', 'Created', (delivery) => delivery.created_at, { width: 110, hideOn: 'phone' }),
  {
    key: 'time',
    title: 'Last attempt',
    width: 120,
    align: 'right',
    // The same as in the CLI. The list is sorted by it, or by the time of the event while a delivery is open.
    cell: (delivery) => <Time delivery={delivery} />,
  },
]

/** With the time of an open delivery, except in rows of two lines, which show it in place of the last attempt. */
function Status({ delivery }: { delivery: Delivery }) {
  const isCompact = useIsCompact()
  if (isCompact || !isOpen(delivery)) return <StatusBadge status={delivery.state} />
  return (
    <span className="lines">
      <StatusBadge status={delivery.state} />
      <WaitingTime delivery={delivery} />
    </span>
  )
}

function Time({ delivery }: { delivery: Delivery }) {
  const isCompact = useIsCompact()
  if (isCompact && isOpen(delivery)) return <WaitingTime delivery={delivery} />
  return <TimeAgo at={delivery.last_attempt_at} none="–" />
}
