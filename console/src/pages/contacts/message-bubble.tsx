import type { ConversationMessage } from '@parley/contract/console/contacts'
import { useEffect, useRef } from 'react'
import { formatClock } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { echoSourceNames } from '../../parts/echo-sources.ts'
import { FormFile } from '../../parts/files/form-file.tsx'
import { MessageFile } from '../../parts/files/message-file.tsx'
import { removedText } from '../../parts/removed-text.ts'
import { ChatBubble } from '../../ui/chat.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Chip, StatusBadge } from '../../ui/status-badge.tsx'
import { conversationBubble, earlierTexts, isChange, type Reaction } from './bubbles.ts'
import styles from './contacts.module.css'

interface MessageBubbleProps {
  message: ConversationMessage
  reactions: readonly Reaction[]
  /** Set if the contact writes with several senders. */
  senderName: string | null
  /** The page was opened for this message. */
  isOpen: boolean
}

export function MessageBubble({ message, reactions, senderName, isOpen }: MessageBubbleProps) {
  const here = useHere()
  const anchor = useRef<HTMLDivElement>(null)
  // Only once, so that a new message does not scroll a reader back.
  useEffect(() => {
    if (isOpen) anchor.current?.scrollIntoView({ block: 'center' })
  }, [isOpen])
  const { received, form } = message
  return (
    <>
      {isOpen && <div ref={anchor} />}
      <ChatBubble
        bubble={conversationBubble(message)}
        isOurs={message.direction === 'sent'}
        isMarked={isOpen}
        quote={message.about && <Quote about={message.about} isReply={!isChange(message)} />}
        file={
          message.file &&
          !message.deletion && (
            <MessageFile
              message={message}
              name={received?.media?.filename ?? null}
              isVoice={received?.media?.voice ?? false}
            />
          )
        }
        after={
          <>
            {form?.files.map((file) => (
              <FormFile key={file.index} formId={form.id} file={file} />
            ))}
            {form && <MoreLink to={here.path(`forms/${form.id}`)}>View submission</MoreLink>}
            {received?.order_id != null && (
              <MoreLink to={here.path(`orders/${received.order_id}`)}>View order</MoreLink>
            )}
            <EarlierTexts message={message} />
            <Failure message={message} />
          </>
        }
        reactions={reactions.map(({ emoji, isOurs }) => ({
          emoji,
          who: isOurs ? 'You reacted' : 'The contact reacted',
        }))}
        foot={
          <>
            {message.template_name && <Chip>{message.template_name}</Chip>}
            {message.group_id !== null && <Chip>group</Chip>}
            {received?.standby && <Chip>standby</Chip>}
            {message.source !== null && <Chip>{echoSourceNames[message.source]}</Chip>}
            {senderName && <bdi className="clip">{senderName}</bdi>}
            {message.edit && !message.deletion && <span>Edited</span>}
            {message.direction === 'sent' && message.source === null && <StatusBadge status={message.status} />}
            <PageLink to={here.path(`messages/${message.id}`)} className={`link ${styles.time}`}>
              <span className="unseen">Message of </span>
              {formatClock(message.at)}
            </PageLink>
          </>
        }
      />
    </>
  )
}

const MoreLink = ({ to, children }: { to: string; children: string }) => (
  <div className={styles.more}>
    <PageLink to={to}>{children}</PageLink>
  </div>
)

/** What the message said before it was edited or deleted. */
function EarlierTexts({ message }: { message: ConversationMessage }) {
  const texts = earlierTexts(message)
  if (texts.length === 0) return null
  return (
    <details className={styles.earlier}>
      <summary>{message.deletion ? 'Show the deleted text' : 'Show the earlier text'}</summary>
      {texts.map((text) => (
        <p key={text}>
          <bdi>{text}</bdi>
        </p>
      ))}
    </details>
  )
}

/** The message that this one replies to, or changed. */
function Quote({ about, isReply }: { about: NonNullable<ConversationMessage['about']>; isReply: boolean }) {
  const here = useHere()
  const whose = about.direction === 'sent' ? 'you' : 'the contact'
  return (
    <PageLink to={here.path(`messages/${about.id}`)} className={styles.quote ?? ''}>
      <span className="small quiet">{isReply ? `Reply to ${whose}` : `Earlier message of ${whose}`}</span>
      <bdi className="clip">{removedText(about) ?? about.preview ?? about.template_name ?? about.type}</bdi>
    </PageLink>
  )
}

/** Why a message failed, and how to fix it. */
function Failure({ message: { explained, received, status } }: { message: ConversationMessage }) {
  if (received?.error) {
    return (
      <p className={styles.failure}>
        <strong>
          <bdi>{received.error.title}</bdi>
        </strong>{' '}
        WhatsApp could not deliver the content of this message.
      </p>
    )
  }
  if (!explained) return null
  return (
    <p className={styles.failure}>
      <strong>
        {status === 'failed' ? 'Not delivered: ' : ''}
        <bdi>{explained.title}</bdi>.
      </strong>{' '}
      {explained.fix}
    </p>
  )
}
