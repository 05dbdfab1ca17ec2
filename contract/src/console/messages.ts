/** Messages as the console shows them: both directions in one list, and the whole story of one. */
import { type Static, Type } from 'typebox'
import { MessageError } from '../events.ts'
import { Moment, Phone } from '../formats.ts'
import {
  FlowResponseId,
  MessageId,
  nullable,
  OrderId,
  SenderId,
  TemplateId,
  Timestamp,
  Uuid,
  WebhookId,
} from '../ids.ts'
import { InboundLocation, InboundMedia, inboundTypes, Reply } from '../inbound.ts'
import { messageStatuses } from '../message.ts'
import { sendTypes } from '../send.ts'
import { consolePageQuery } from './list.ts'

export const directions = ['sent', 'received'] as const
export type Direction = (typeof directions)[number]

const text = nullable(Type.String())

/** One line of the list. */
export const ListedMessage = Type.Object({
  id: MessageId,
  direction: Type.Enum([...directions]),
  at: Timestamp,
  /** The other side: whom it went to, or who wrote. Null where the network withholds the number. */
  phone: text,
  user_id: text,
  profile_name: text,
  sender_id: SenderId,
  type: Type.String(),
  /** `received` for what came in. */
  status: Type.Enum([...messageStatuses, 'received']),
  /** The first words of it. */
  preview: text,
  template_id: nullable(TemplateId),
  template_name: text,
  reference: text,
  /** Why it failed, in a few words. */
  error: text,
})

export const ListedMessageFilters = {
  /** A number, an id (ours or the network's) or a reference, whole. */
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  direction: Type.Optional(Type.Enum([...directions])),
  status: Type.Optional(Type.Enum([...messageStatuses])),
  type: Type.Optional(Type.Enum([...new Set([...sendTypes, ...inboundTypes])])),
  sender: Type.Optional(SenderId),
  template: Type.Optional(TemplateId),
  phone: Type.Optional(Phone),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}

export const ListedMessageQuery = Type.Object(
  { ...consolePageQuery, ...ListedMessageFilters },
  { additionalProperties: false },
)

/** An error of the network in plain words. */
export const ExplainedError = Type.Object({
  ...MessageError.properties,
  cause: Type.String(),
  fix: Type.String(),
})

const StoryDelivery = Type.Object({
  webhook_id: WebhookId,
  webhook_name: Type.String(),
  url: Type.String(),
  state: Type.Enum(['pending', 'retrying', 'held', 'delivered', 'failed']),
  attempts: Type.Integer(),
  last_attempt_at: nullable(Timestamp),
  last_status: nullable(Type.Integer()),
  last_error: text,
  next_attempt_at: nullable(Timestamp),
})

const StoryEvent = Type.Object({
  id: Uuid,
  type: Type.String(),
  created_at: Timestamp,
  deliveries: Type.Array(StoryDelivery),
})

/** What came in, as far as it was read. */
export const ReceivedContent = Type.Object({
  text,
  reply: nullable(Reply),
  media: nullable(InboundMedia),
  location: nullable(InboundLocation),
  form_id: nullable(FlowResponseId),
  order_id: nullable(OrderId),
  /** Why the network could not hand the content over. */
  error: nullable(MessageError),
})

export const MessageDetail = Type.Object({
  ...ListedMessage.properties,
  sender: Type.Object({ id: SenderId, phone_number: Type.String(), display_name: text }),
  wa_message_id: text,
  /** When the network says the person sent it; of a sent one null. */
  received_at: nullable(Timestamp),
  /** The request as it was asked for, in the words of `POST /v1/messages`; null for what came in. */
  request: nullable(Type.Record(Type.String(), Type.Unknown())),
  received: nullable(ReceivedContent),
  template: nullable(
    Type.Object({
      id: TemplateId,
      name: Type.String(),
      language: Type.String(),
      category: Type.String(),
      components: Type.Array(Type.Unknown()),
    }),
  ),
  /** Who sent it: a key, or a person in the console. */
  author: nullable(Type.Object({ kind: Type.Enum(['key', 'person']), id: nullable(Uuid), name: Type.String() })),
  /** The call that made it; null if it is not known (any more) or not for this person to see. */
  api_request: nullable(
    Type.Object({
      id: Type.String(),
      at: Timestamp,
      method: Type.String(),
      route: Type.String(),
      status: Type.Integer(),
      duration_ms: Type.Number(),
      address: text,
    }),
  ),
  steps: Type.Array(Type.Object({ status: Type.Enum([...messageStatuses, 'received']), at: Timestamp })),
  explained: nullable(ExplainedError),
  /** While it is not settled: what the outbox does about it. */
  outbox: nullable(
    Type.Object({
      state: Type.Enum(['waiting', 'claimed', 'calling', 'unknown', 'expired']),
      due_at: Timestamp,
      expires_at: Timestamp,
      attempts: Type.Integer(),
      last_error: nullable(MessageError),
    }),
  ),
  credits: nullable(
    Type.Object({
      spent: Type.Integer(),
      refunded: Type.Integer(),
      refunded_at: nullable(Timestamp),
    }),
  ),
  /** Null: not for this person to see. */
  events: nullable(Type.Array(StoryEvent)),
  replies: Type.Array(ListedMessage),
  /** What it answered; the message is null where we do not have it. */
  in_reply_to: nullable(Type.Object({ wa_message_id: Type.String(), message: nullable(ListedMessage) })),
})

export const SentReply = Type.Object({ id: MessageId, credits: Type.Integer() })

export type ListedMessage = Static<typeof ListedMessage>
export type ListedMessageQuery = Static<typeof ListedMessageQuery>
export type ExplainedError = Static<typeof ExplainedError>
export type TimelineEvent = Static<typeof StoryEvent>
export type ReceivedContent = Static<typeof ReceivedContent>
export type MessageDetail = Static<typeof MessageDetail>
export type SentReply = Static<typeof SentReply>
