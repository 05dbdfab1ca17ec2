import type { ListedMessage } from '@parley/contract/console/messages'
import { useNavigate } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { Bubble } from '../../lib/bubble.ts'
import { formatDay } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { ChatBubble, ChatPaper } from '../../ui/chat.tsx'
import { Row } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { FailedState, LoadingLines } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import styles from './messages.module.css'
import { useMessages } from './messages.queries.ts'

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

/** All messages with one number, drawn as the chat it was. */
export function Conversation({ phone, openId }: { phone: string; openId: string }) {
  const here = useHere()
  const navigate = useNavigate()
  const messages = useMessages({ phone })
  if (messages.error && !messages.rows) {
    return <FailedState what="The conversation could not be loaded" error={messages.error} onRetry={messages.retry} />
  }
  if (!messages.rows) return <LoadingLines lines={8} />
  const oldestFirst = messages.rows.toReversed()
  return (
    <ChatPaper label="Conversation">
      {messages.hasMore && (
        <Row justify="center">
          <Button size="s" busy={messages.isLoadingMore} onClick={messages.loadMore}>
            Show earlier messages
          </Button>
        </Row>
      )}
      {oldestFirst.map((message, index) => {
        const day = formatDay(message.at)
        const before = oldestFirst[index - 1]
        return (
          <Fragment key={message.id}>
            {(!before || formatDay(before.at) !== day) && <span className={styles.day}>{day}</span>}
            <ChatBubble
              bubble={bubbleOf(message)}
              isOurs={message.direction === 'sent'}
              foot={
                <>
                  {message.direction === 'sent' && <StatusBadge status={message.status} />}
                  {message.id === openId ? (
                    <strong>{time.format(new Date(message.at))}</strong>
                  ) : (
                    <PageLink
                      to={here.path(`messages/${message.id}`)}
                      onClick={(event) => {
                        event.preventDefault()
                        void navigate({ to: here.path(`messages/${message.id}`) })
                      }}
                    >
                      {time.format(new Date(message.at))}
                    </PageLink>
                  )}
                </>
              }
            />
          </Fragment>
        )
      })}
    </ChatPaper>
  )
}

function bubbleOf({ type, preview, template_name, error }: ListedMessage): Bubble {
  const body = [preview ?? (type === 'text' ? '' : null), error].filter(Boolean).join('\n')
  if (template_name) return { header: { kind: 'text', text: template_name }, body: body || 'Template', footer: null }
  if (type === 'text' || type === 'button') return { body }
  if (type === 'interactive') return { body: body || 'A submitted form' }
  if (type === 'order' || type === 'contacts' || type === 'unsupported') return { body: body || wordsFor[type] || type }
  return { header: { kind: 'media', type }, body }
}

const wordsFor: Readonly<Record<string, string>> = {
  order: 'A cart from your catalogue',
  contacts: 'A contact card',
  unsupported: 'Not shown by the network',
}
