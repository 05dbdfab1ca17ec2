import type { ListedMessage, MessageDetail } from '@parley/contract/console/messages'
import { useHere } from '../../lib/session.ts'
import { removedText } from '../../parts/removed-text.ts'
import { Card } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './messages.module.css'

/** The message it replies to, and the replies to it. */
export function Related({ message: { in_reply_to: quoted, replies } }: { message: MessageDetail }) {
  return (
    <>
      {quoted && (
        <Card title="In reply to">
          {quoted.message ? (
            <Line message={quoted.message} />
          ) : (
            <span className="quiet">
              Message not found: <bdi className="mono small">{quoted.wa_message_id}</bdi>
            </span>
          )}
        </Card>
      )}
      {replies.length > 0 && (
        <Card title="Replies">
          {replies.map((reply) => (
            <Line key={reply.id} message={reply} />
          ))}
        </Card>
      )}
    </>
  )
}

function Line({ message }: { message: ListedMessage }) {
  const here = useHere()
  return (
    <div className={styles.related}>
      <PageLink to={here.path(`messages/${message.id}`)} className="link clip">
        <bdi>{message.preview ?? removedText(message) ?? message.template_name ?? message.type}</bdi>
      </PageLink>
      <span className="small quiet">
        {message.direction === 'sent' ? 'Sent' : 'Received'} <TimeAgo at={message.at} />
      </span>
    </div>
  )
}
