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
  recipient: string
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
  /** The group that an inbound message was written in. */
  groupId: string | null
}

/** A sent or received message of the workspace by our ID. */
export const referredById = (db: Db, workspaceId: string, id: string): Promise<ReferredMessage | undefined> =>
  db.first(
    `select sender_id as "senderId", wa_message_id as "waMessageId", null as "groupId" from messages
     where workspace_id = $1 and id = $2
     union all
     select sender_id, wa_message_id, content ->> 'groupId' from inbound_messages where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )

/** A sent or received message of a sender by WhatsApp's ID. */
export const referredByWaId = (
  db: Db,
  workspaceId: string,
  senderId: string,
  waMessageId: string,
): Promise<ReferredMessage | undefined> =>
  db.first(
    `select sender_id as "senderId", wa_message_id as "waMessageId", null as "groupId" from messages
     where workspace_id = $1 and sender_id = $2 and wa_message_id = $3
     union all
     select sender_id, wa_message_id, content ->> 'groupId' from inbound_messages
     where workspace_id = $1 and sender_id = $2 and wa_message_id = $3`,
    [workspaceId, senderId, waMessageId],
  )
