import type { ListedMessage } from '@parley/contract/console/messages'
import { inboundTypes } from '@parley/contract/inbound'
import { messageStatuses } from '@parley/contract/message'
import { sendTypes } from '@parley/contract/send'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { plainWord } from '../../lib/format.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useCan, useHere, useSession } from '../../lib/session.ts'
import { useFilters, useSearchParam } from '../../lib/url.ts'
import { ContactLink } from '../../parts/contact-link.tsx'
import { echoSourceNames } from '../../parts/echo-sources.ts'
import { useExampleRequest } from '../../parts/example-request.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { ListBars } from '../../parts/list-bars.tsx'
import { senderName, useSenderChoice, useTemplateChoice } from '../../parts/network.queries.ts'
import { personName, personOf } from '../../parts/recipient.tsx'
import { removedText } from '../../parts/removed-text.ts'
import { Button } from '../../ui/button.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { optionsOf } from '../../ui/filter-bar.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip, StatusBadge } from '../../ui/status-badge.tsx'
import styles from './messages.module.css'
import { useMessages } from './messages.queries.ts'
import { SendDialog } from './send-dialog.tsx'

export function MessagesPage() {
  const here = useHere()
  const navigate = useNavigate()
  const maySend = useCan('messages:send')
  const filters = useFilters('q', 'direction', 'status', 'type', 'sender', 'template', 'phone', 'user_id', 'from', 'to')
  const messages = useMessages(filters)
  const [dialog, setDialog] = useSearchParam('send')
  usePaletteActions(
    useMemo(
      () => (maySend ? [{ id: 'send-message', title: 'Send message', run: () => setDialog('text') }] : []),
      [maySend, setDialog],
    ),
  )
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <PageHeader
        title="Messages"
        detail="All sent and received messages, newest first."
        actions={
          maySend && (
            <Button kind="primary" icon="plus" onClick={() => setDialog('text')}>
              Send message
            </Button>
          )
        }
      />
      <PageBody>
        <MessageFilters query={filters} shown={messages.rows?.length ?? 0} />
        <ListBars
          label="Messages by result"
          path="messages"
          query={filters}
          topics={['messages']}
          noun="messages"
          series={resultSeries}
          results={results}
        />
        <DataTable
          label="Messages"
          list={messages}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: here.path(`messages/${id}`) })}
          columns={columns}
          empty={isFiltered ? <NoMatches /> : <NoMessages />}
        />
      </PageBody>
      {maySend && <SendDialog kind={dialog} onKind={setDialog} onClose={() => setDialog(null)} />}
    </>
  )
}

const resultSeries: readonly Series[] = [
  { key: 'received', title: 'Received', tone: 'note' },
  { key: 'delivered', title: 'Delivered', tone: 'accent' },
  { key: 'pending', title: 'Pending', tone: 'calm' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

/** The filters that show a result. A message that was read was delivered too. */
const results = {
  received: { direction: 'received' },
  delivered: { status: 'delivered,read' },
  pending: { status: 'queued,sent' },
  failed: { status: 'failed' },
}

const columns: readonly Column<ListedMessage>[] = [
  {
    key: 'who',
    title: 'Contact',
    width: 220,
    cell: (message) => (
      <span className={styles.who}>
        <span className={styles[message.direction]} title={message.direction === 'sent' ? 'Sent' : 'Received'}>
          <Icon name={message.direction === 'sent' ? 'arrowUp' : 'arrowDown'} size={12} />
          <span className="unseen">{message.direction === 'sent' ? 'Sent to' : 'Received from'}</span>
        </span>
        <ContactLink person={personOf(message)}>
          <span className={styles.contact}>
            <Contact {...message} />
          </span>
        </ContactLink>
      </span>
    ),
  },
  { key: 'what', title: 'Message', cell: (message) => <Preview {...message} /> },
  {
    key: 'status',
    title: 'Status',
    width: 130,
    cell: ({ status, source }) =>
      source === null ? <StatusBadge status={status} /> : <Chip>{echoSourceNames[source]}</Chip>,
  },
  {
    key: 'reference',
    title: 'Reference',
    width: 140,
    hideOn: 'phone',
    cell: ({ reference }) => (reference ? <SafeText className="clip">{reference}</SafeText> : null),
  },
  timeColumn('at', 'Time', ({ at }) => at, { width: 110 }),
]

function Contact(message: ListedMessage) {
  const { contact_name: name } = message
  const number = personName(message)
  return (
    <>
      {name && <SafeText className="clip">{name}</SafeText>}
      {number ? <bdi className={name ? 'small quiet numbers' : 'numbers'}>{number}</bdi> : null}
    </>
  )
}

function Preview(message: ListedMessage) {
  const { direction, type, preview, template_name, group_id, error } = message
  const kind = direction === 'received' && type === 'interactive' && !preview ? 'form' : type
  const removed = removedText(message)
  return (
    <span className={styles.preview}>
      {group_id !== null && <Chip>group</Chip>}
      {type !== 'text' && <Chip>{template_name ?? plainWord(kind)}</Chip>}
      {preview && <SafeText className="clip">{preview}</SafeText>}
      {removed && <span className="quiet clip">{removed}</span>}
      {error && <bdi className={`${styles.error} clip`}>{error}</bdi>}
    </span>
  )
}

function MessageFilters({ query, shown }: { query: Readonly<Record<string, string>>; shown: number }) {
  const senders = useSenderChoice()
  const templates = useTemplateChoice()
  return (
    <ListBar
      query={query}
      noun={['message']}
      total={{ path: 'messages', topics: ['messages'], shown }}
      file="messages.csv"
      search={{
        name: 'q',
        label: 'Search by name, number, text, ID or reference',
        placeholder: 'Name, number, text or ID',
      }}
      filters={[
        {
          kind: 'select',
          name: 'direction',
          title: 'Direction',
          single: true,
          options: optionsOf(['sent', 'received']),
        },
        { kind: 'select', name: 'status', title: 'Status', options: optionsOf(messageStatuses) },
        {
          kind: 'select',
          name: 'type',
          title: 'Type',
          options: optionsOf([...new Set([...sendTypes, ...inboundTypes])]),
        },
        {
          kind: 'select',
          name: 'sender',
          title: 'Sender',
          options: (senders.data?.data ?? []).map((sender) => ({ value: sender.id, title: senderName(sender) })),
        },
        {
          kind: 'select',
          name: 'template',
          title: 'Template',
          options: (templates.data?.data ?? []).map(({ id, name, language }) => ({
            value: id,
            title: `${name} · ${language}`,
          })),
        },
        { kind: 'text', name: 'phone', title: 'Phone number', placeholder: '+49 170 1234567' },
        { kind: 'text', name: 'user_id', title: 'User ID', onlyIfSet: true },
        { kind: 'dates', title: 'Time' },
      ]}
    />
  )
}

const NoMatches = () => (
  <EmptyState icon="search" title="No matching messages">
    Every word must begin a word of the name or the message. IDs and references must match exactly.
  </EmptyState>
)

function NoMessages() {
  const { public_url } = useSession()
  const request = useExampleRequest()
  return (
    <EmptyState
      icon="message"
      title="No messages yet"
      curl={`curl ${public_url}/v1/messages \\
  -H "Authorization: Bearer $PARLEY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(request)}'`}
    >
      Messages you send and receive appear here immediately. Send your first one:
    </EmptyState>
  )
}
