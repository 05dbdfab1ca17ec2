import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import type { Outgoing } from '../../../whatsapp/outgoing.ts'

/** The content of a message without its template, stored as JSON until the message is sent. */
export type Content = Omit<Outgoing, 'messageId' | 'template'>

export interface NewMessage {
  id: string
  workspaceId: string
  /** The API key that sent it; null if a person sent it. */
  keyId: string | null
  sentBy: string | null
  /** Its API request in the request log. */
  requestId: string | null
  senderId: string
  /** The phone number, or the user ID if the message is sent to that. */
  recipient: string
  recipientUserId: string | null
  type: string
  templateId: string | null
  reference: string | null
  credits: number
  content: Content
  createdAt: Date
  expiresAt: Date
}

const insertion = statement(
  {
    message: {
      id: 'uuid',
      workspaceId: 'uuid',
      keyId: 'uuid',
      sentBy: 'text',
      requestId: 'uuid',
      senderId: 'uuid',
      recipient: 'text',
      recipientUserId: 'text',
      type: 'text',
      templateId: 'uuid',
      reference: 'text',
      credits: 'int',
      content: 'json',
      createdAt: 'timestamptz',
      quotedWaMessageId: 'text',
    },
    expiresAt: 'timestamptz',
  },
  ({ message, expiresAt }) => `with message as materialized (select * from ${message}), new_message as (
       insert into messages (${message.columns}) select * from message
     )
     insert into outbox (message_id, workspace_id, sender_id, recipient, due_at, expires_at)
     select id, workspace_id, sender_id, recipient, created_at, ${expiresAt} from message`,
)

/** Inserts a message and its row in the outbox. */
export const insertMessage = (db: Db, { expiresAt, ...message }: NewMessage): Promise<number> =>
  insertion.change(db, {
    message: [{ ...message, quotedWaMessageId: message.content.quotedWaMessageId ?? null }],
    expiresAt,
  })

export interface ReferredMessage {
  senderId: string
  waMessageId: string | null
  /** Whether a person wrote it to the workspace. */
  received: boolean
  /** The phone number and the user ID of the person who wrote it. */
  number: string | null
  userId: string | null
  /** The group that an inbound message was written in. */
  groupId: string | null
}

const sent = `select sender_id as "senderId", wa_message_id as "waMessageId", false as received, null as number,
    null as "userId", null as "groupId" from messages where workspace_id = $1`
const received = `select sender_id, wa_message_id, true, sent_by, sent_by_user_id, content ->> 'groupId' from inbound_messages
    where workspace_id = $1`

/** A sent or received message of the workspace by our ID. */
export const referredById = (db: Db, workspaceId: string, id: string): Promise<ReferredMessage | undefined> =>
  db.first(`${sent} and id = $2 union all ${received} and id = $2`, [workspaceId, id])

/** A sent or received message of these senders by WhatsApp's ID. */
export const referredByWaId = (
  db: Db,
  workspaceId: string,
  senderIds: readonly string[],
  waMessageId: string,
): Promise<ReferredMessage | undefined> => {
  const isReferred = 'sender_id = any($2::uuid[]) and wa_message_id = $3'
  return db.first(`${sent} and ${isReferred} union all ${received} and ${isReferred} limit 1`, [
    workspaceId,
    senderIds,
    waMessageId,
  ])
}
