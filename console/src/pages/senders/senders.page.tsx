import { type ConsoleSender, messagesPerSecond, peopleOf } from '@parley/contract/console/senders'
import { qualityRatings, senderStatuses } from '@parley/contract/sender'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { formatNumber, plainWord } from '../../lib/format.ts'
import { formatPhone } from '../../lib/phone.ts'
import { useCan, useHere, useSession } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Quality } from '../../parts/quality.tsx'
import { SyncButton } from '../../parts/sync-button.tsx'
import { WhyButton } from '../../parts/why-button.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { optionsOf } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, Notice } from '../../ui/states.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Moment, TimeAgo } from '../../ui/time.tsx'
import { NameDialog, PinDialog, ProfileDialog } from './sender-dialogs.tsx'
import { useSenders } from './senders.queries.ts'

type NumberAction = 'register' | 'pin' | 'name' | 'profile'

export function SendersPage() {
  const here = useHere()
  const { person } = useSession()
  const navigate = useNavigate()
  const filters = useFilters('q', 'status', 'quality')
  const senders = useSenders(filters)
  const mayManage = useCan('senders:manage')
  const [dialog, setDialog] = useState<{ action: NumberAction; sender: ConsoleSender } | null>(null)
  const close = () => setDialog(null)
  const accounts = [...new Map(senders.rows?.map(({ connection }) => [connection.id, connection])).values()]
  const failedSyncs = accounts.filter(({ sync_error }) => sync_error !== null)
  const limited = accounts.filter(({ status }) => status !== 'ACTIVE')
  return (
    <>
      <PageHeader
        title="Senders"
        detail="The WhatsApp numbers you send and receive messages with."
        actions={<SyncButton />}
      />
      <PageBody>
        {limited.map(({ id, account, status, status_reason, status_until }) => (
          <Notice
            key={id}
            tone={status === 'FLAGGED' ? 'warn' : 'bad'}
            title={`Account ${account} is ${plainWord(status).toLowerCase()}.`}
          >
            <bdi>{status_reason}</bdi>
            {status !== 'FLAGGED' && status_until && (
              <>
                {' '}
                Until <Moment at={status_until} />.
              </>
            )}
          </Notice>
        ))}
        {failedSyncs.map(({ id, account, sync_error }) => (
          <Notice key={id} tone="warn" title={`Account ${account} could not be synced.`}>
            <bdi>{sync_error}</bdi>
          </Notice>
        ))}
        <ListBar
          query={filters}
          noun={['sender']}
          total={{ rows: senders.rows?.length }}
          file="senders.csv"
          search={{ name: 'q', label: 'Search senders', placeholder: 'Name, number or account' }}
          filters={[
            { kind: 'select', name: 'status', title: 'Status', options: optionsOf(senderStatuses) },
            { kind: 'select', name: 'quality', title: 'Quality', options: optionsOf(qualityRatings) },
          ]}
        />
        <DataTable
          label="Senders"
          list={senders}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: here.path('messages'), search: { sender: id } as never })}
          columns={mayManage ? [...columns, actions((action, sender) => setDialog({ action, sender }))] : columns}
          empty={
            Object.keys(filters).length > 0 ? (
              <EmptyState icon="search" title="No matching senders">
                Remove a filter to see more.
              </EmptyState>
            ) : person.operator ? (
              <EmptyState
                icon="sender"
                title="No senders yet"
                action={
                  <ButtonLink kind="primary" icon="plug" to={`/operator/apps?workspace=${here.id}`}>
                    Connect account
                  </ButtonLink>
                }
              >
                Connect a WhatsApp Business account to this workspace. Its phone numbers appear here.
              </EmptyState>
            ) : (
              <EmptyState icon="sender" title="No senders yet" action={<SyncButton />}>
                Phone numbers appear here after the operator connects a WhatsApp Business account to this workspace.
              </EmptyState>
            )
          }
        />
      </PageBody>
      {(dialog?.action === 'register' || dialog?.action === 'pin') && (
        <PinDialog sender={dialog.sender} registers={dialog.action === 'register'} onClose={close} />
      )}
      {dialog?.action === 'name' && <NameDialog sender={dialog.sender} onClose={close} />}
      {dialog?.action === 'profile' && <ProfileDialog sender={dialog.sender} onClose={close} />}
    </>
  )
}

const actions = (act: (action: NumberAction, sender: ConsoleSender) => void): Column<ConsoleSender> => ({
  key: 'actions',
  title: '',
  width: 48,
  align: 'right',
  cell: (sender) =>
    sender.status === 'DELETED' ? null : (
      <Menu
        label={`Actions for ${formatPhone(sender.phone_number)}`}
        groups={[
          [
            sender.status !== 'CONNECTED' && {
              title: 'Register…',
              icon: 'check',
              onSelect: () => act('register', sender),
            },
            { title: 'Set two-step PIN…', icon: 'lock', onSelect: () => act('pin', sender) },
          ],
          [
            { title: 'Change display name…', icon: 'edit', onSelect: () => act('name', sender) },
            { title: 'Business profile…', icon: 'building', onSelect: () => act('profile', sender) },
          ],
        ]}
      />
    ),
})

const columns: readonly Column<ConsoleSender>[] = [
  {
    key: 'number',
    title: 'Phone number',
    cell: (sender) => {
      const { phone_number, display_name } = sender
      const note = nameNote(sender)
      return (
        <span className="lines">
          <bdi className="clip">{display_name ?? formatPhone(phone_number)}</bdi>
          {display_name && <bdi className="small quiet numbers">{formatPhone(phone_number)}</bdi>}
          {note && <bdi className="small quiet">{note}</bdi>}
        </span>
      )
    },
  },
  {
    key: 'status',
    title: 'Status',
    width: 200,
    cell: ({ status, status_reason, verification_status, has_pin }) => (
      <span className="lines">
        <StatusBadge status={status} tone={toneOf(status)} />
        {status_reason && <bdi className="small quiet">{status_reason}</bdi>}
        {status !== 'CONNECTED' && verification_status === 'NOT_VERIFIED' && (
          <span className="small quiet">Not verified</span>
        )}
        {has_pin === false && <span className="small quiet">No two-step PIN</span>}
      </span>
    ),
  },
  { key: 'quality', title: 'Quality', width: 120, cell: ({ quality_rating }) => <Quality rating={quality_rating} /> },
  {
    key: 'throughput',
    title: 'Limits',
    width: 170,
    hideOn: 'tablet',
    cell: ({ throughput, messaging_limit }) => {
      const perSecond = messagesPerSecond[throughput ?? '']
      const people = peopleOf(messaging_limit)
      return (
        <span className="lines">
          {perSecond === undefined ? (
            <span className="quiet">–</span>
          ) : (
            <span>{formatNumber(perSecond)} per second</span>
          )}
          {people !== null && (
            <span className="small quiet">
              {people === Number.POSITIVE_INFINITY ? 'Unlimited people' : `${formatNumber(people)} people a day`}
            </span>
          )}
        </span>
      )
    },
  },
  {
    key: 'account',
    title: 'Account',
    width: 200,
    hideOn: 'tablet',
    cell: ({ connection }) => (
      <span className="lines">
        <span className="mono small">{connection.account}</span>
        <span className="small quiet">
          Synced <TimeAgo at={connection.synced_at} none="never" />
        </span>
      </span>
    ),
  },
  {
    key: 'sent',
    title: 'Last sent',
    width: 120,
    align: 'right',
    cell: ({ last_sent_at }) => <TimeAgo at={last_sent_at} />,
  },
  {
    key: 'received',
    title: 'Last received',
    width: 130,
    align: 'right',
    cell: ({ last_received_at }) => <TimeAgo at={last_received_at} />,
  },
  { key: 'why', title: '', width: 90, align: 'right', cell: ({ id }) => <WhyButton about={id} size="s" /> },
]

/** What WhatsApp says about the display name, unless it is approved. */
function nameNote({ display_name, name_status, requested_name, requested_name_status }: ConsoleSender): string | null {
  if (requested_name && requested_name !== display_name)
    return `“${requested_name}”: ${plainWord(requested_name_status ?? 'requested').toLowerCase()}`
  const isFine = name_status === null || name_status === 'APPROVED' || name_status === 'AVAILABLE_WITHOUT_REVIEW'
  return isFine ? null : `Name ${plainWord(name_status).toLowerCase()}`
}

function toneOf(status: string): Tone {
  if (status === 'CONNECTED') return 'good'
  if (status === 'PENDING' || status === 'UNVERIFIED' || status === 'UNKNOWN') return 'note'
  return status === 'DELETED' || status === 'MIGRATED' ? 'calm' : 'bad'
}
