import type { AlertKind } from '@parley/contract/console/alerts'
import type { NotificationKind } from '@parley/contract/console/notifications'
import { useHere } from '../../lib/session.ts'
import { alertLabels } from '../../parts/alert-labels.ts'
import type { Column } from '../../ui/data-table.tsx'
import { Switch } from '../../ui/fields.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './alerts.module.css'
import { type Alert, useChangeEmail } from './alerts.queries.ts'

type AlertProps = { alert: Alert }

export const alertColumns: readonly Column<Alert>[] = [
  { key: 'alert', title: 'Alert', cell: (alert) => <Words alert={alert} /> },
  { key: 'email', title: 'Email to you', width: 120, cell: (alert) => <Email alert={alert} /> },
  { key: 'event', title: 'Event', width: 250, cell: (alert) => <Subscribers alert={alert} /> },
  { key: 'last', title: 'Last happened', width: 160, cell: (alert) => <Last alert={alert} /> },
  { key: 'page', title: 'Page', width: 110, cell: (alert) => <AlertPageLink alert={alert} /> },
]

/** On a phone, all of an alert is in one column: it has more than two lines, and none of them can be cut off. */
export const phoneColumns: readonly Column<Alert>[] = [
  {
    key: 'alert',
    title: 'Alert',
    cell: (alert) => (
      <div className={styles.stack}>
        <Words alert={alert} />
        <Email alert={alert} label="Email to you" />
        <Subscribers alert={alert} />
        <div className={styles.foot}>
          <div>
            <span className="quiet small">Last happened</span>
            <Last alert={alert} />
          </div>
          <AlertPageLink alert={alert} />
        </div>
      </div>
    ),
  },
]

const Words = ({ alert: { kind } }: AlertProps) => (
  <div className={styles.words}>
    <strong>{alertLabels[kind].title}</strong>
    <span className="quiet small">{alertLabels[kind].detail}</span>
  </div>
)

function Email({ alert: { kind, email }, label }: AlertProps & { label?: string }) {
  const change = useChangeEmail()
  if (email === null) return <span className="quiet">No email</span>
  return (
    <Switch
      aria-label={`Email to you: ${alertLabels[kind].title}`}
      label={label}
      checked={email}
      // Only the kinds of emails have a choice.
      onChange={(event) => change.run({ kind: kind as NotificationKind, wanted: event.currentTarget.checked })}
    />
  )
}

/** The event, and the webhooks that get it. */
function Subscribers({ alert: { event, webhooks } }: AlertProps) {
  const here = useHere()
  if (event === null) return <span className="quiet">No event</span>
  return (
    <div className={styles.words}>
      <span>
        <Chip mono>{event}</Chip>
      </span>
      {webhooks?.length === 0 && <span className="quiet small">No webhook is subscribed</span>}
      {webhooks?.map(({ id, name, state }) => (
        <span key={id} className="small">
          <PageLink to={here.path(`webhooks/${id}`)}>
            <bdi>{name}</bdi>
          </PageLink>
          {state !== 'enabled' && <span className="quiet"> ({state})</span>}
        </span>
      ))}
    </div>
  )
}

const Last = ({ alert: { last_at, last_subject } }: AlertProps) => (
  <div className={styles.words}>
    <span>
      <TimeAgo at={last_at} none="Not yet" />
    </span>
    {last_subject && <SafeText className="quiet small">{last_subject}</SafeText>}
  </div>
)

/** The page that an alert is about. */
const pages: Readonly<Record<AlertKind, { title: string; path: string }>> = {
  webhook_failing: { title: 'Webhooks', path: 'webhooks' },
  webhook_disabled: { title: 'Webhooks', path: 'webhooks' },
  credits_low: { title: 'Credits', path: 'credits' },
  key_expiring: { title: 'API keys', path: 'keys' },
  token_expiring: { title: 'Senders', path: 'senders' },
  template_status: { title: 'Templates', path: 'templates' },
  sender_status: { title: 'Senders', path: 'senders' },
}

function AlertPageLink({ alert: { kind } }: AlertProps) {
  const here = useHere()
  return <PageLink to={here.path(pages[kind].path)}>{pages[kind].title}</PageLink>
}
