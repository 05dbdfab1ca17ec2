import type { ListedMessage } from '@parley/contract/console/messages'
import { useNavigate } from '@tanstack/react-router'
import { Fragment, useEffect, useRef } from 'react'
import type { Bubble } from '../../lib/bubble.ts'
import { formatClock, formatDay } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import type { Person } from '../../parts/recipient.tsx'
import { removedText } from '../../parts/removed-content.tsx'
import { Button } from '../../ui/button.tsx'
import { ChatBubble, ChatPaper } from '../../ui/chat.tsx'
import { Row } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { FailedState, LoadingLines } from '../../ui/states.tsx'
import { Chip, StatusBadge } from '../../ui/status-badge.tsx'
import { Composer } from './composer.tsx'
import { MessageFile } from './message-file.tsx'
import styles from './messages.module.css'
import { useMessages } from './messages.queries.ts'

/** All messages with one phone number, or one person without a number, as a chat. */
export function Conversation({
  person,
  openId,
  senderId,
  windowExpiresAt,
}: {
  person: Person
  openId: string
  senderId: string
  windowExpiresAt: string | null
}) {
  const here = useHere()
  const navigate = useNavigate()
  const messages = useMessages(person)
  const open = useRef<HTMLDivElement>(null)
  const isLoaded = messages.rows !== undefined
  // Only once, so that a new message does not scroll a reader back down.
  useEffect(() => {
    if (isLoaded) open.current?.scrollIntoView({ block: 'center' })
  }, [isLoaded])
  if (messages.error && !messages.rows) {
    return <FailedState what="The conversation could not be loaded" error={messages.error} onRetry={messages.retry} />
  }
  if (!messages.rows) return <LoadingLines lines={8} />
  const oldestFirst = messages.rows.toReversed()
  return (
    <div className={styles.chat}>
      <ChatPaper label="Conversation">
        {messages.hasMore && (
          <Row justify="center">
            <Button size="s" busy={messages.isLoadingMore} onClick={messages.loadMore}>
              Load earlier messages
            </Button>
          </Row>
        )}
        {oldestFirst.map((message, index) => {
          const day = formatDay(message.at)
          const before = oldestFirst[index - 1]
          return (
            <Fragment key={message.id}>
              {message.id === openId && <div ref={open} />}
              {(!before || formatDay(before.at) !== day) && <span className={styles.day}>{day}</span>}
              <ChatBubble
                bubble={bubbleOf(message)}
                isOurs={message.direction === 'sent'}
                file={message.file && <MessageFile message={message} />}
                foot={
                  <>
                    {message.direction === 'sent' && <StatusBadge status={message.status} />}
                    {message.group_id !== null && <Chip>group</Chip>}
                    {message.id === openId ? (
                      <strong>{formatClock(message.at)}</strong>
                    ) : (
                      <PageLink
                        to={here.path(`messages/${message.id}`)}
                        onClick={(event) => {
                          event.preventDefault()
                          void navigate({ to: here.path(`messages/${message.id}`) })
                        }}
                      >
                        {formatClock(message.at)}
                      </PageLink>
                    )}
                  </>
                }
              />
            </Fragment>
          )
        })}
      </ChatPaper>
      <Composer person={person} senderId={senderId} windowExpiresAt={windowExpiresAt} />
    </div>
  )
}

function bubbleOf(message: ListedMessage): Bubble {
  const { type, direction, preview, template_name, error } = message
  const body = [preview ?? removedText(message), error].filter(Boolean).join('\n')
  if (template_name) return { body: body || template_name, footer: `Template ${template_name}` }
  if (type === 'text' || type === 'button' || type === 'reaction') return { body }
  if (type === 'interactive')
    return { body: body || (direction === 'received' ? 'Form submission' : 'Interactive message') }
  if (type === 'contacts' || type === 'unsupported') return { body: body || placeholders[type] || type }
  return { header: { kind: 'media', type }, body }
}

const placeholders: Readonly<Record<string, string>> = {
  contacts: 'Contact card',
  unsupported: 'Unsupported message',
}
