import type { Db } from '../../../db/db.ts'
import type { Outgoing } from '../../../whatsapp/outgoing.ts'

/** What a message is made of, besides its template: kept as JSON until the network is asked. */
export type Content = Omit<Outgoing, 'messageId' | 'template'>

export interface NewMessage {
  id: string
  workspaceId: string
  /** The key that sent it; null where a person did. */
  keyId: string | null
  sentBy: string | null
  /** The request that asked for it, as the request log knows it. */
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

/** Keeps a message and puts it into the outbox. */
export const insertMessage = (db: Db, message: NewMessage): Promise<number> =>
  db.change(
    `with kept as (
       insert into messages (id, workspace_id, key_id, sender_id, recipient, type, template_id, reference, credits,
         content, created_at, sent_by, request_id, quoted_wa_message_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13, $14, $15)
     )
     insert into outbox (message_id, workspace_id, sender_id, recipient, due_at, expires_at)
     values ($1, $2, $4, $5, $11, $12)`,
    [
      message.id,
      message.workspaceId,
      message.keyId,
      message.senderId,
      message.recipient,
      message.type,
      message.templateId,
      message.reference,
      message.credits,
      JSON.stringify(message.content),
      message.createdAt,
      message.expiresAt,
      message.sentBy,
      message.requestId,
      message.content.quotedWaMessageId ?? null,
    ],
  )

export interface FormToken {
  messageId: string
  workspaceId: string
  senderId: string
  recipient: string
  token: string
  templateId: string | null
  flowId: string | null
  createdAt: Date
}

export const insertFormToken = (db: Db, form: FormToken): Promise<number> =>
  db.change(
    `insert into flow_tokens (message_id, workspace_id, sender_id, recipient, token, template_id, flow_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      form.messageId,
      form.workspaceId,
      form.senderId,
      form.recipient,
      form.token,
      form.templateId,
      form.flowId,
      form.createdAt,
    ],
  )

export interface Referred {
  senderId: string
  waMessageId: string | null
}

/** A message of the workspace, sent or received, by our id. */
export const referredById = (db: Db, workspaceId: string, id: string): Promise<Referred | undefined> =>
  db.first(
    `select sender_id as "senderId", wa_message_id as "waMessageId" from messages where workspace_id = $1 and id = $2
     union all
     select sender_id, wa_message_id from inbound_messages where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )

/** The same by the network's id. */
export const referredByWaId = (
  db: Db,
  workspaceId: string,
  senderId: string,
  waMessageId: string,
): Promise<Referred | undefined> =>
  db.first(
    `select sender_id as "senderId", wa_message_id as "waMessageId" from messages
     where workspace_id = $1 and sender_id = $2 and wa_message_id = $3
     union all
     select sender_id, wa_message_id from inbound_messages
     where workspace_id = $1 and sender_id = $2 and wa_message_id = $3`,
    [workspaceId, senderId, waMessageId],
  )
