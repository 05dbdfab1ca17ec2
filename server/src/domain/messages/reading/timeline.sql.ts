import type { MessageError, MessagePricing } from '@parley/contract/events'
import type {
  InboundContact,
  InboundDeletion,
  InboundEdit,
  InboundLocation,
  InboundMedia,
  InboundReaction,
  InboundReferral,
  ReferredProduct,
  Reply,
  Unsupported,
} from '@parley/contract/inbound'
import type { MessageStatus } from '@parley/contract/message'
import type { Db } from '../../../db/db.ts'
import type { Order } from '../../../whatsapp/incoming/order.ts'
import type { Content } from '../sending/send.sql.ts'

export interface SentRow {
  kind: 'sent'
  id: string
  created_at: Date
  sender_id: string
  wa_message_id: string | null
  content: Content
  credits: number
  error: MessageError | null
  pricing: MessagePricing | null
  key_id: string | null
  sent_by: string | null
  request_id: string | null
  template_id: string | null
  outbox: {
    state: 'waiting' | 'claimed' | 'calling' | 'unknown' | 'expired'
    due_at: string
    expires_at: string
    attempts: number
    last_error: MessageError | null
  } | null
}

export const sentMessage = (db: Db, workspaceId: string, id: string): Promise<SentRow | undefined> =>
  db.first(
    `select 'sent' as kind, m.id, m.created_at, m.sender_id, m.wa_message_id, m.content, m.credits, m.error, m.pricing, m.key_id,
       m.sent_by, m.request_id, m.template_id,
       case when o.message_id is not null then json_build_object('state', o.state, 'due_at', o.due_at,
         'expires_at', o.expires_at, 'attempts', o.attempts, 'last_error', o.last_error) end as outbox
     from messages m left join outbox o on o.message_id = m.id
     where m.workspace_id = $1 and m.id = $2`,
    [workspaceId, id],
  )

/** The content of an inbound message. */
export interface StoredContent {
  text: string | null
  reply: Reply | null
  /** A message from before a field was stored does not have it. */
  media: (Pick<InboundMedia, 'id' | 'mime_type' | 'filename' | 'caption'> & Partial<Omit<InboundMedia, 'url'>>) | null
  location: InboundLocation | null
  contacts: InboundContact[] | null
  order: Order | null
  reaction: Pick<InboundReaction, 'emoji' | 'wa_message_id'> | null
  edit: Omit<InboundEdit, 'message_id'> | null
  deletion: Omit<InboundDeletion, 'message_id'> | null
  referral: InboundReferral | null
  referredProduct: ReferredProduct | null
  unsupported: Unsupported | null
  standby: boolean
  forwarded: boolean
  username: string | null
  error: MessageError | null
  quoted: string | null
  /** The message that an edit or a deletion is about. */
  changed: string | null
}

/** An edit or a deletion. The column for the quoted message names the message that it changes. */
export const isChange = `(content -> 'edit' is not null or content -> 'deletion' is not null)`

export const contentColumns = `content ->> 'text' as text, content -> 'reply' as reply, content -> 'media' as media,
  content -> 'location' as location, content -> 'contacts' as contacts, content -> 'order' as "order",
  content -> 'reaction' as reaction, content -> 'referral' as referral, content -> 'unsupported' as unsupported,
  content ->> 'forwarded' is not null as forwarded, content ->> 'username' as username, content -> 'error' as error,
  content -> 'edit' as edit, content -> 'deletion' as deletion, content -> 'referredProduct' as "referredProduct",
  content ->> 'standby' is not null as standby, case when not ${isChange} then quoted_wa_message_id end as quoted,
  case when ${isChange} then quoted_wa_message_id end as changed`

export interface ReceivedRow extends StoredContent {
  kind: 'received'
  id: string
  created_at: Date
  received_at: Date
  sender_id: string
  wa_message_id: string
  /** Of a message that the business wrote elsewhere. */
  echo_status: MessageStatus | null
}

export const receivedMessage = (db: Db, workspaceId: string, id: string): Promise<ReceivedRow | undefined> =>
  db.first(
    `select 'received' as kind, id, recorded_at as created_at, received_at, sender_id, wa_message_id,
       case when source is not null then coalesce(content ->> 'status', 'sent') end as echo_status, ${contentColumns}
     from inbound_messages where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
