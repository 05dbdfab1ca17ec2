import type { MessageDetail, TimelineEvent } from '@parley/contract/console/messages'
import { type Bubble, requestBubble } from '../../lib/bubble.ts'
import { formatClockWithSeconds, formatDuration, formatTime, plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { ChatBubble, ChatPaper } from '../../ui/chat.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { Chip, HttpBadge, StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Moment, TimeAgo } from '../../ui/time.tsx'
import { Timeline, type TimelineItem } from '../../ui/timeline.tsx'
import styles from './messages.module.css'

/** How the message looks on the handset. */
export function MessagePreview({ message }: { message: MessageDetail }) {
  return (
    <ChatPaper label="The message as it looks">
      <ChatBubble
        bubble={bubbleOf(message)}
        isOurs={message.direction === 'sent'}
        foot={<span className="numbers">{formatTime(message.at)}</span>}
      />
    </ChatPaper>
  )
}

function bubbleOf({ request, template, received, type }: MessageDetail): Bubble {
  if (request) return requestBubble(request, template?.components ?? null)
  const bubble: Bubble = {}
  if (received?.media)
    bubble.header = { kind: 'media', type, detail: received.media.filename ?? received.media.mime_type }
  if (received?.location) bubble.location = received.location
  if (received?.text) bubble.body = received.text
  else if (!received?.media && !received?.location)
    bubble.body = wordsFor[type] ?? 'A kind of message that is not shown here.'
  return bubble
}

const wordsFor: Readonly<Record<string, string>> = {
  contacts: 'A contact card.',
  order: 'A cart from your catalogue.',
  interactive: 'A submitted form.',
  unsupported: 'Something the network does not pass on, such as a reaction, an edit or a poll.',
}

/** The error in plain words: what it means and what to do. */
export function FailureReason({ message: { explained, status, received } }: { message: MessageDetail }) {
  if (received?.error) {
    return (
      <Notice tone="warn" title={<bdi>{received.error.title}</bdi>}>
        The network could not hand over the content of this message. <bdi>{received.error.details}</bdi>
      </Notice>
    )
  }
  if (!explained) return null
  return (
    <Notice tone={status === 'failed' ? 'bad' : 'warn'} title={<bdi>{explained.title}</bdi>}>
      <div className={styles.reason}>
        <span>{explained.cause}</span>
        <span>
          <strong>What to do: </strong>
          {explained.fix}
        </span>
        <span className="small">
          The network said <span className="mono">{explained.code}</span>:{' '}
          <bdi>{explained.details ?? explained.message}</bdi>
        </span>
      </div>
    </Notice>
  )
}

const looks: Readonly<Record<string, readonly [title: string, tone: Tone, icon: IconName]>> = {
  queued: ['Queued', 'calm', 'clock'],
  sent: ['Accepted by the network', 'note', 'check'],
  delivered: ['Delivered to the handset', 'good', 'checkCircle'],
  read: ['Read', 'good', 'read'],
  failed: ['Failed', 'bad', 'crossCircle'],
  received: ['Received', 'note', 'arrowDown'],
}

/** Request, statuses and events in the order they happened. */
export function MessageTimeline({ message }: { message: MessageDetail }) {
  const events = message.events ?? []
  const items: TimelineItem[] = []
  if (message.api_request) items.push(requestItem(message.api_request))
  message.steps.forEach(({ status, at }, index) => {
    const [title, tone, icon] = looks[status] ?? [status, 'calm', 'circle']
    const before = message.steps[index - 1]
    const gap = before && Date.parse(at) - Date.parse(before.at)
    const told = events.filter(({ type }) => type === `message.${status}`)
    items.push({
      key: status,
      title,
      at,
      tone,
      icon,
      aside: (
        <span className="quiet numbers">
          {gap !== undefined && gap > 0 && <>after {formatDuration(gap)} · </>}
          {formatClockWithSeconds(at)}
        </span>
      ),
      children: told.length > 0 && told.map((event) => <EventLine key={event.id} event={event} />),
    })
  })
  for (const event of events.filter(({ type }) => !message.steps.some(({ status }) => type === `message.${status}`))) {
    items.push({
      key: event.id,
      title: eventTitle(event),
      at: event.created_at,
      icon: 'webhook',
      children: <EventLine event={event} />,
    })
  }
  items.push(...aheadOf(message))
  return (
    <Card title="What happened">
      <Timeline label="What happened" items={items} />
    </Card>
  )
}

const eventTitle = ({ type }: TimelineEvent) => (type === 'flow.completed' ? 'Form submitted' : type)

function requestItem({
  id,
  at,
  method,
  route,
  status,
  duration_ms,
  address,
}: NonNullable<MessageDetail['api_request']>): TimelineItem {
  return {
    key: 'request',
    title: (
      <span className="mono">
        {method} {route}
      </span>
    ),
    at,
    icon: 'request',
    aside: <HttpBadge status={status} />,
    children: <RequestLine id={id} ms={duration_ms} address={address} />,
  }
}

function RequestLine({ id, ms, address }: { id: string; ms: number; address: string | null }) {
  const here = useHere()
  return (
    <span className="small quiet">
      Answered in {formatDuration(ms)}
      {address && <> to {address}</>} · <PageLink to={here.path(`requests?open=${id}`)}>Show the request</PageLink>
    </span>
  )
}

/** An event and how it fares at each endpoint. */
function EventLine({ event }: { event: TimelineEvent }) {
  const here = useHere()
  return (
    <div>
      <Chip mono>{event.type}</Chip>{' '}
      {event.deliveries.length === 0 && <span className="small quiet">No endpoint listens to it.</span>}
      {event.deliveries.length > 0 && (
        <ul className={styles.deliveries}>
          {event.deliveries.map((delivery) => (
            <li key={delivery.webhook_id} className={styles.delivery}>
              <StatusBadge status={delivery.state} />
              <span className={`${styles.grow} clip`}>
                <bdi>{delivery.webhook_name}</bdi> <bdi className="small quiet">{delivery.url}</bdi>
              </span>
              <span className="small quiet">
                {plural(delivery.attempts, 'attempt')}
                {delivery.last_status !== null && <> · HTTP {delivery.last_status}</>}
                {delivery.last_status === null && delivery.last_error && <> · {delivery.last_error}</>}
                {delivery.next_attempt_at && (
                  <>
                    {' '}
                    · next <TimeAgo at={delivery.next_attempt_at} />
                  </>
                )}
              </span>
              <PageLink to={here.path(`deliveries?event=${event.id}`)} className="link small">
                Attempts
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const outboxWords: Readonly<Record<string, string>> = {
  waiting: 'Waits for its turn with the network',
  claimed: 'About to be handed to the network',
  calling: 'Being handed to the network',
  unknown: 'The call broke off; waiting for a status to say what became of it',
  expired: 'Too late to send; about to be given up',
}

function aheadOf({ outbox }: MessageDetail): TimelineItem[] {
  if (!outbox) return []
  return [
    {
      key: 'ahead',
      title: outboxWords[outbox.state] ?? outbox.state,
      icon: 'progress',
      isAhead: true,
      children: (
        <span className="small quiet">
          {outbox.attempts > 0 && <>{plural(outbox.attempts, 'call')} so far. </>}
          {outbox.last_error && (
            <>
              Last answer: <bdi>{outbox.last_error.title}</bdi> ({outbox.last_error.code}).{' '}
            </>
          )}
          {outbox.state === 'unknown' ? 'Given up ' : 'Next try '}
          <TimeAgo at={outbox.due_at} />, at the latest <Moment at={outbox.expires_at} />.
        </span>
      ),
    },
  ]
}
