import type { ConsoleWebhook, WebhookEvents as Events } from '@parley/contract/console/webhooks'
import type { EventType } from '@parley/contract/events'
import { formatNumber } from '../../lib/format.ts'
import { useCan } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { eventChoices } from '../../parts/deliveries/events.ts'
import { Button } from '../../ui/button.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Section } from '../../ui/layout.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { LoadingLines } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Tip } from '../../ui/tip.tsx'
import styles from './webhooks.module.css'
import { useWebhookEvents } from './webhooks.queries.ts'

/** The schemas of all events are large, and only this part needs them. */
const PayloadPreview = lazyPart(
  async () => ({ default: (await import('./payload-preview.tsx')).PayloadPreview }),
  <LoadingLines lines={8} />,
)

type Row = Events['data'][number]

/** The events of the last days next to the subscribed event types, and an example of each payload. */
export function WebhookEvents({ webhook, onSettings }: { webhook: ConsoleWebhook; onSettings: () => void }) {
  const [chosen, setChosen] = useSearchParam('event_type')
  const mayManage = useCan('webhooks:manage')
  const query = useWebhookEvents(webhook.id)
  const rows = query.data?.data.toSorted((left, right) => rankOf(left) - rankOf(right))
  const type = eventChoices.find(({ value }) => value === chosen)?.value ?? webhook.events[0]
  return (
    <>
      <DataTable
        label="Events of the last 7 days"
        list={{ rows, error: query.error, isLoading: query.isPending, retry: () => void query.refetch() }}
        rowKey={(row) => row.type}
        onOpen={(row) => setChosen(row.type)}
        openKey={type ?? null}
        columns={columnsFor(mayManage ? onSettings : null)}
      />
      <Section
        title="Payload"
        detail="An example of the event that is chosen above. Real ones have the values of your messages and accounts."
      >
        {type && <PayloadPreview type={type as EventType} />}
      </Section>
    </>
  )
}

/** Came and subscribed, came and not subscribed, subscribed and never came, neither. */
const rankOf = ({ subscribed, events }: Row): number => (events.count > 0 ? (subscribed ? 0 : 1) : subscribed ? 2 : 3)

const details = new Map<string, string>(eventChoices.map(({ value, detail }) => [value, detail]))

const columnsFor = (onSettings: (() => void) | null): Column<Row>[] => [
  {
    key: 'type',
    title: 'Event',
    cell: ({ type }) => (
      <span className="lines">
        <span className="mono">{type}</span>
        <span className="quiet small clip">{details.get(type)}</span>
      </span>
    ),
  },
  {
    key: 'subscribed',
    title: 'Subscription',
    width: 250,
    cell: (row) => <Subscription row={row} onSettings={onSettings} />,
  },
  { key: 'events', title: 'Last 7 days', width: 120, align: 'right', cell: ({ events }) => <Count of={events} /> },
  timeColumn('last', 'Last event', ({ last_at }) => last_at, { width: 130, none: '–' }),
]

function Subscription({ row: { subscribed, events }, onSettings }: { row: Row; onSettings: (() => void) | null }) {
  if (subscribed) {
    return events.count > 0 || events.more ? (
      <StatusBadge status="enabled" word="Subscribed" />
    ) : (
      <StatusBadge status="none" tone="calm" word="Subscribed, none came" />
    )
  }
  if (events.count === 0) return <span className="quiet">Not subscribed</span>
  return (
    <span className={styles.subscription}>
      <StatusBadge status="missed" tone="warn" word="Not subscribed" />
      {onSettings && (
        <Button kind="quiet" size="s" onClick={onSettings}>
          Subscribe
        </Button>
      )}
    </span>
  )
}

function Count({ of: { count, more } }: { of: Row['events'] }) {
  if (!more) return <span className={count === 0 ? 'quiet numbers' : 'numbers'}>{formatNumber(count)}</span>
  return (
    <Tip text="Only the newest events are counted.">
      <span className="numbers">{`${formatNumber(count)}+`}</span>
    </Tip>
  )
}
