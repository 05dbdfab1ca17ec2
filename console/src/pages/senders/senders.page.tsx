import type { ConsoleSender } from '@parley/contract/console/senders'
import { qualityRatings, senderStatuses } from '@parley/contract/sender'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { formatPhone } from '../../lib/phone.ts'
import { useCan, useHere, useSession } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Quality } from '../../parts/quality.tsx'
import { SyncButton } from '../../parts/sync-button.tsx'
import { WhyButton } from '../../parts/why-button.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { optionsOf } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { type NumberAction, NumberDialog, NumberMenu } from './number-actions.tsx'
import { AccountNotices, limitText, nameNote, paceText, SenderStatus } from './sender-state.tsx'
import { useSenders } from './senders.queries.ts'

export function SendersPage() {
  const here = useHere()
  const { person } = useSession()
  const navigate = useNavigate()
  const filters = useFilters('q', 'status', 'quality')
  const senders = useSenders(filters)
  const mayManage = useCan('senders:manage')
  const [dialog, setDialog] = useState<{ action: NumberAction; sender: ConsoleSender } | null>(null)
  const accounts = [...new Map(senders.rows?.map(({ connection }) => [connection.id, connection])).values()]
  return (
    <>
      <PageHeader
        title="Senders"
        detail="The WhatsApp numbers you send and receive messages with."
        actions={<SyncButton />}
      />
      <PageBody>
        {accounts.map((account) => (
          <AccountNotices key={account.id} account={account} />
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
          onOpen={({ id }) => void navigate({ to: here.path(`senders/${id}`) })}
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
      {dialog && <NumberDialog {...dialog} onClose={() => setDialog(null)} />}
    </>
  )
}

const actions = (act: (action: NumberAction, sender: ConsoleSender) => void): Column<ConsoleSender> => ({
  key: 'actions',
  title: '',
  width: 48,
  align: 'right',
  cell: (sender) => <NumberMenu sender={sender} act={(action) => act(action, sender)} />,
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
        <SenderStatus status={status} />
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
    cell: (sender) => {
      const [perSecond, people] = [paceText(sender), limitText(sender)]
      return (
        <span className="lines">
          {perSecond === null ? <span className="quiet">–</span> : <span>{perSecond} per second</span>}
          {people !== null && <span className="small quiet">{people} people a day</span>}
        </span>
      )
    },
  },
  timeColumn('sent', 'Last sent', ({ last_sent_at }) => last_sent_at),
  timeColumn('received', 'Last received', ({ last_received_at }) => last_received_at, { width: 130 }),
  { key: 'why', title: '', width: 90, align: 'right', cell: ({ id }) => <WhyButton about={id} size="s" /> },
]
