import type { MessageDetail, TimelineEvent } from '@parley/contract/console/messages'
import { type Bubble, requestBubble } from '../../lib/bubble.ts'
import { formatDuration, plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { errorLabels } from '../../parts/deliveries/labels.ts'
import { MessageFile } from '../../parts/files/message-file.tsx'
import { removedText } from '../../parts/removed-text.ts'
import { ChatBubble, ChatPaper } from '../../ui/chat.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { Chip, HttpBadge, StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Countdown, Moment, TimeAgo } from '../../ui/time.tsx'
import { Timeline, type TimelineItem } from '../../ui/timeline.tsx'
import styles from './messages.module.css'

/** The message as it looks on a phone. */
export function MessagePreview({ message }: { message: MessageDetail }) {
  return (
    <ChatPaper label="Message preview">
      <ChatBubble
        bubble={bubbleOf(message)}
        isOurs={message.direction === 'sent'}
        foot={<Moment at={message.at} />}
        file={
          message.file && (
            <MessageFile
              message={message}
              name={message.received?.media?.filename ?? null}
              isVoice={message.received?.media?.voice ?? false}
            />
          )
        }
      />
    </ChatPaper>
  )
}

function bubbleOf(message: MessageDetail): Bubble {
  const { request, template, received, type } = message
  const removed = removedText(message)
  if (removed) return { body: removed }
  if (request) return requestBubble(request, template?.components ?? null)
  const bubble: Bubble = {}
  if (received?.media)
    bubble.header = { kind: 'media', type, detail: received.media.filename ?? received.media.mime_type }
  if (received?.location) bubble.location = received.location
  const inner = received?.text ?? received?.reaction?.emoji ?? received?.contacts?.map(({ name }) => name).join('\n')
  if (inner) bubble.body = inner
  else if (!received?.media && !received?.location)
    bubble.body = placeholders[type] ?? 'This message type cannot be previewed.'
  return bubble
}

const placeholders: Readonly<Record<string, string>> = {
  contacts: 'Contact card',
  order: 'Order from your catalog',
  interactive: 'Form submission',
  unsupported: 'A message type that WhatsApp does not deliver to businesses, such as a reaction, an edit or a poll.',
}

/** Why the message failed, and how to fix it. */
export function FailureReason({ message: { explained, status, received } }: { message: MessageDetail }) {
  if (received?.error) {
    return (
      <Notice tone="warn" title={<bdi>{received.error.title}</bdi>}>
        WhatsApp could not deliver the content of this message. <bdi>{received.error.details}</bdi>
      </Notice>
    )
  }
  if (!explained) return null
  return (
    <Notice tone={status === 'failed' ? 'bad' : 'warn'} title={<bdi>{explained.title}</bdi>}>
      <div className={styles.reason}>
        <span>{explained.cause}</span>
        <span>
          <strong>Fix: </strong>
          {explained.fix}
        </span>
        <span className="small">
          WhatsApp error <span className="mono">{explained.code}</span>:{' '}
          <bdi>{explained.details ?? (explained.message || explained.title)}</bdi>
        </span>
      </div>
    </Notice>
  )
}

const looks: Readonly<Record<string, readonly [title: string, tone: Tone, icon: IconName]>> = {
  queued: ['Queued', 'calm', 'clock'],
  sent: ['Accepted by WhatsApp', 'note', 'check'],
  delivered: ['Delivered', 'good', 'checkCircle'],
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
    const statusEvents = events.filter(({ type }) => type === `message.${status}`)
    items.push({
      key: status,
      title,
      at,
      tone,
      icon,
      aside: (
        <span className="quiet numbers">
          {gap !== undefined && gap > 0 && <>after {formatDuration(gap)} · </>}
          <Moment at={at} />
        </span>
      ),
      children: statusEvents.length > 0 && statusEvents.map((event) => <EventLine key={event.id} event={event} />),
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
  items.push(...nextStep(message))
  return (
    <Card title="Timeline">
      <Timeline label="Timeline" items={items} />
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
      {formatDuration(ms)}
      {address && <> · from {address}</>} · <PageLink to={here.path(`requests?open=${id}`)}>View request</PageLink>
    </span>
  )
}

/** An event and its delivery status at each webhook. */
function EventLine({ event }: { event: TimelineEvent }) {
  const here = useHere()
  return (
    <div>
      <Chip mono>{event.type}</Chip>{' '}
      {event.deliveries.length === 0 && <span className="small quiet">No webhook is subscribed.</span>}
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
                {delivery.last_status === null && delivery.last_error && (
                  <> · {errorLabels[delivery.last_error] ?? delivery.last_error}</>
                )}
                {delivery.next_attempt_at && (
                  <>
                    {' '}
                    · next attempt <Countdown at={delivery.next_attempt_at} />
                  </>
                )}
                {delivery.held_since && (
                  <>
                    {' '}
                    · held <TimeAgo at={delivery.held_since} />
                  </>
                )}
              </span>
              <PageLink to={here.path(`deliveries?event=${event.id}`)} className="link small alone">
                View attempts
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const outboxStates: Readonly<Record<string, string>> = {
  waiting: 'Queued',
  claimed: 'Sending',
  calling: 'Sending',
  unknown: 'Outcome unknown: the connection was lost. Waiting for a status from WhatsApp',
  expired: 'Expired before it could be sent',
}

function nextStep({ outbox }: MessageDetail): TimelineItem[] {
  if (!outbox) return []
  return [
    {
      key: 'next',
      title: outboxStates[outbox.state] ?? outbox.state,
      icon: 'progress',
      isAhead: true,
      children: (
        <span className="small quiet">
          {outbox.attempts > 0 && <>{plural(outbox.attempts, 'attempt')} so far. </>}
          {outbox.last_error && (
            <>
              Last error: <bdi>{outbox.last_error.title}</bdi> ({outbox.last_error.code}).{' '}
            </>
          )}
          {outbox.state === 'unknown' ? 'Marked as failed ' : 'Next attempt '}
          <TimeAgo at={outbox.due_at} />. Expires <Moment at={outbox.expires_at} />.
        </span>
      ),
    },
  ]
}
