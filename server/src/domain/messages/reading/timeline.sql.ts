import type { MessageError } from '@parley/contract/events'
import type { InboundLocation, InboundMedia, Reply } from '@parley/contract/inbound'
import type { Db } from '../../../db/db.ts'
import type { Content } from '../sending/send.sql.ts'

export interface SentRow {
  kind: 'sent'
  id: string
  created_at: Date
  sender_id: string
  sender_phone: string
  sender_name: string | null
  wa_message_id: string | null
  content: Content
  credits: number
  error: MessageError | null
  key_id: string | null
  key_name: string | null
  sent_by: string | null
  request_id: string | null
  template: { id: string; name: string; language: string; category: string; components: unknown[] } | null
  outbox: {
    state: 'waiting' | 'claimed' | 'calling' | 'unknown' | 'expired'
    due_at: string
    expires_at: string
    attempts: number
    last_error: MessageError | null
  } | null
}

export const sentStory = (db: Db, workspaceId: string, id: string): Promise<SentRow | undefined> =>
  db.first(
    `select 'sent' as kind, m.id, m.created_at, m.sender_id, s.phone_number as sender_phone,
       s.display_name as sender_name, m.wa_message_id, m.content, m.credits, m.error, m.key_id, k.name as key_name,
       m.sent_by, m.request_id,
       case when t.id is not null then json_build_object('id', t.id, 'name', t.name, 'language', t.language,
         'category', t.category, 'components', t.components) end as template,
       case when o.message_id is not null then json_build_object('state', o.state, 'due_at', o.due_at,
         'expires_at', o.expires_at, 'attempts', o.attempts, 'last_error', o.last_error) end as outbox
     from messages m join senders s on s.id = m.sender_id
     left join api_keys k on k.id = m.key_id
     left join templates t on t.id = m.template_id
     left join outbox o on o.message_id = m.id
     where m.workspace_id = $1 and m.id = $2`,
    [workspaceId, id],
  )

export interface ReceivedRow {
  kind: 'received'
  id: string
  created_at: Date
  received_at: Date
  sender_id: string
  sender_phone: string
  sender_name: string | null
  wa_message_id: string
  /** Without where the network has its file, which is nobody's business. */
  text: string | null
  reply: Reply | null
  media: InboundMedia | null
  location: InboundLocation | null
  error: MessageError | null
  quoted: string | null
  form_id: string | null
  order_id: string | null
}

export const receivedStory = (db: Db, workspaceId: string, id: string): Promise<ReceivedRow | undefined> =>
  db.first(
    `select 'received' as kind, m.id, m.recorded_at as created_at, m.received_at, m.sender_id,
       s.phone_number as sender_phone, s.display_name as sender_name, m.wa_message_id, m.content ->> 'text' as text,
       m.content -> 'reply' as reply, m.content -> 'media' as media, m.content -> 'location' as location,
       m.content -> 'error' as error, m.quoted_wa_message_id as quoted, f.id as form_id, o.id as order_id
     from inbound_messages m join senders s on s.id = m.sender_id
     left join flow_responses f on f.message_id = m.id
     left join orders o on o.message_id = m.id
     where m.workspace_id = $1 and m.id = $2`,
    [workspaceId, id],
  )

/** What was asked for, to be asked for again. */
export const askedFor = (
  db: Db,
  workspaceId: string,
  id: string,
): Promise<{ content: Content; sender_id: string } | undefined> =>
  db.first('select content, sender_id from messages where workspace_id = $1 and id = $2', [workspaceId, id])
