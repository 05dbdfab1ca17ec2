import type { Contact, ConversationMessage } from '@parley/contract/console/contacts'
import { Fragment, useMemo } from 'react'
import { formatClock, formatDay } from '../../lib/format.ts'
import { useSearchParam } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { ChatPaper } from '../../ui/chat.tsx'
import { Row } from '../../ui/layout.tsx'
import { EmptyState, FailedState, LoadingLines } from '../../ui/states.tsx'
import { controlLines, linesBetween, withReactions } from './bubbles.ts'
import { Composer } from './composer.tsx'
import { contactSenderName } from './contact-details.tsx'
import styles from './contacts.module.css'
import { useConversation } from './contacts.queries.ts'
import { MessageBubble } from './message-bubble.tsx'
import { useChatScroll } from './use-chat-scroll.ts'

/** All messages with a contact, oldest first, and a field to write to them. Older messages are loaded when you scroll up. */
export function Conversation({ id, contact }: { id: string; contact: Contact }) {
  const messages = useConversation(id)
  const [openId] = useSearchParam('message')
  const { shown, reactions } = useMemo(() => withReactions((messages.rows ?? noRows).toReversed()), [messages.rows])
  const scroll = useChatScroll({ ...messages, oldestId: messages.rows?.at(-1)?.id })
  if (messages.error && !messages.rows) {
    return <FailedState what="The conversation could not be loaded" error={messages.error} onRetry={messages.retry} />
  }
  if (!messages.rows) {
    return (
      <div className={styles.chat}>
        <LoadingLines lines={8} />
      </div>
    )
  }
  const senderNames = new Map(
    contact.senders.length > 1 ? contact.senders.map((sender) => [sender.id, contactSenderName(sender)]) : [],
  )
  const controls = controlLines(contact.senders)
  const linesAt = (index: number) =>
    linesBetween(controls, shown[index - 1] ?? null, shown[index] ?? null).map(({ at, text }) => (
      <span key={at + text} className={styles.day}>
        <bdi>{text}</bdi> · {formatClock(at)}
      </span>
    ))
  return (
    <div className={styles.chat}>
      <ChatPaper label="Conversation" className={styles.log} ref={scroll.log} onScroll={scroll.onScroll}>
        <div className={styles.lines} ref={scroll.lines}>
          {messages.hasMore && (
            <Row justify="center">
              <Button busy={messages.isLoadingMore} onClick={messages.loadMore}>
                Load earlier messages
              </Button>
            </Row>
          )}
          {shown.length === 0 && (
            <EmptyState icon="message" title="No messages left">
              All messages with this contact were removed.
            </EmptyState>
          )}
          {shown.map((message, index) => {
            const day = formatDay(message.at)
            const before = shown[index - 1]
            return (
              <Fragment key={message.id}>
                {linesAt(index)}
                {(!before || formatDay(before.at) !== day) && <span className={styles.day}>{day}</span>}
                <MessageBubble
                  message={message}
                  reactions={reactions.get(message.id) ?? []}
                  senderName={senderNames.get(message.sender_id) ?? null}
                  isOpen={message.id === openId}
                />
              </Fragment>
            )
          })}
          {linesAt(shown.length)}
        </div>
      </ChatPaper>
      {contact.erasure === null && <Composer contact={contact} />}
    </div>
  )
}

const noRows: readonly ConversationMessage[] = []
