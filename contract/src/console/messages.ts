/** Messages as the console shows them: a list of both directions, and the details and timeline of one message. */
import { type Static, Type } from 'typebox'
import { MessageError, MessagePricing } from '../events.ts'
import { Moment, Phone, UserId } from '../formats.ts'
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
import {
  echoSources,
  InboundContact,
  InboundDeletion,
  InboundEdit,
  InboundLocation,
  InboundMedia,
  InboundOrder,
  InboundReaction,
  InboundReferral,
  inboundTypes,
  ReferredProduct,
  Reply,
  Unsupported,
} from '../inbound.ts'
import { messageStatuses } from '../message.ts'
import { sendTypes } from '../send.ts'
import { StoredState } from './forms.ts'
import { consolePageQuery, severalIds, severalOf } from './list.ts'

const directions = ['sent', 'received'] as const
export type Direction = (typeof directions)[number]

const text = nullable(Type.String())

/** A row of the list. */
export const ListedMessage = Type.Object({
  id: MessageId,
  /** `sent` also for a message that the business wrote elsewhere. */
  direction: Type.Enum([...directions]),
  /** Where the business wrote a message that this service did not send. Null for all other messages. */
  source: nullable(Type.Enum([...echoSources])),
  at: Timestamp,
  /** The phone number of the recipient or the sender. Null if WhatsApp does not provide it. */
  phone: text,
  /** WhatsApp's ID of the person. Null if it is not known. */
  user_id: text,
  /** The username of the person, without `@`. Null if they have none, and for outbound messages. */
  username: text,
  profile_name: text,
  /** The contact's name: as the WhatsApp Business app has saved it, otherwise that of their newest messages. */
  contact_name: text,
  sender_id: SenderId,
  /** The group that an inbound message was written in; null for a private message. */
  group_id: text,
  type: Type.String(),
  /** `received` for inbound messages. */
  status: Type.Enum([...messageStatuses, 'received']),
  /** The beginning of the text. */
  preview: text,
  template_id: nullable(TemplateId),
  template_name: text,
  reference: text,
  /** The title of the error. */
  error: text,
  /** When and why the content was removed; null if it is available. */
  removed: nullable(Type.Object({ at: Timestamp, why: Type.Enum(['retention', 'erasure']) })),
  /** The download state of the file of an inbound message. Null without a file. */
  file: nullable(StoredState),
})

const ListedMessageFilters = {
  /** A phone number, an ID (ours or WhatsApp's), a person's user ID or a reference: an exact match. Or words of a name or a message. */
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  direction: Type.Optional(Type.Enum([...directions])),
  status: severalOf(messageStatuses),
  type: severalOf([...new Set([...sendTypes, ...inboundTypes])]),
  sender: severalIds('snd_', 'senders'),
  template: severalIds('tpl_', 'templates'),
  phone: Type.Optional(Phone),
  /** Messages with a person without a phone number. */
  user_id: Type.Optional(UserId),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}

/** The filters of a total and an export. */
export const MessageFilters = Type.Object(ListedMessageFilters, { additionalProperties: false })

export const ListedMessageQuery = Type.Object(
  { ...consolePageQuery, ...ListedMessageFilters },
  { additionalProperties: false },
)

/** An error of WhatsApp with its cause and how to fix it. */
export const ExplainedError = Type.Object({
  ...MessageError.properties,
  cause: Type.String(),
  fix: Type.String(),
})

const TimelineDelivery = Type.Object({
  webhook_id: WebhookId,
  webhook_name: Type.String(),
  url: Type.String(),
  state: Type.Enum(['pending', 'retrying', 'held', 'delivered', 'failed']),
  attempts: Type.Integer(),
  last_attempt_at: nullable(Timestamp),
  last_status: nullable(Type.Integer()),
  last_error: text,
  next_attempt_at: nullable(Timestamp),
  /** Since when it waits for its endpoint to be enabled; null if it does not. */
  held_since: nullable(Timestamp),
})

export const TimelineEvent = Type.Object({
  id: Uuid,
  type: Type.String(),
  created_at: Timestamp,
  deliveries: Type.Array(TimelineDelivery),
})

/** The content of an inbound message. */
export const ReceivedContent = Type.Object({
  text,
  reply: nullable(Reply),
  media: nullable(Type.Omit(InboundMedia, ['url'])),
  location: nullable(InboundLocation),
  contacts: nullable(Type.Array(InboundContact)),
  order: nullable(InboundOrder),
  reaction: nullable(InboundReaction),
  referral: nullable(InboundReferral),
  referred_product: nullable(ReferredProduct),
  /** The edit or the deletion that this message is. */
  edit: nullable(InboundEdit),
  deletion: nullable(InboundDeletion),
  unsupported: nullable(Unsupported),
  standby: Type.Boolean({ default: false }),
  forwarded: Type.Boolean(),
  username: text,
  form_id: nullable(FlowResponseId),
  order_id: nullable(OrderId),
  /** Why WhatsApp could not provide the content. */
  error: nullable(MessageError),
})

export const MessageDetail = Type.Object({
  ...ListedMessage.properties,
  sender: Type.Object({ id: SenderId, phone_number: Type.String(), display_name: text }),
  wa_message_id: text,
  /** When the message was sent, according to WhatsApp; null for outbound messages. */
  received_at: nullable(Timestamp),
  /** The request body, in the format of `POST /v1/messages`; null for inbound messages, and if it was removed. */
  request: nullable(Type.Record(Type.String(), Type.Unknown())),
  received: nullable(ReceivedContent),
  /** How WhatsApp billed the message; null for inbound messages, and while it is not known. */
  pricing: nullable(MessagePricing),
  /**
   * When the 24-hour window of this conversation ends or ended. Null if the person has not written to this sender, and for
   * messages in a group.
   */
  window_expires_at: nullable(Timestamp),
  template: nullable(
    Type.Object({
      id: TemplateId,
      name: Type.String(),
      language: Type.String(),
      category: Type.String(),
      /** As of the last sync. */
      status: Type.String(),
      components: Type.Array(Type.Unknown()),
    }),
  ),
  /** Who sent it: an API key, or a person in the console. */
  author: nullable(Type.Object({ kind: Type.Enum(['key', 'person']), id: nullable(Uuid), name: Type.String() })),
  /** The API request that created the message; null if it is not known any more or the role may not see it. */
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
  /** The state in the outbox, until the outcome is known. */
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
  /** Null if the role may not see events. */
  events: nullable(Type.Array(TimelineEvent)),
  replies: Type.Array(ListedMessage),
  /** The message that this is a reply to; `message` is null if it is not stored. */
  in_reply_to: nullable(Type.Object({ wa_message_id: Type.String(), message: nullable(ListedMessage) })),
})

/** The 24-hour window of the conversation between a sender and a phone number. */
export const ReplyWindowQuery = Type.Object({ sender: SenderId, phone: Phone }, { additionalProperties: false })
export const ReplyWindow = Type.Object({ window_expires_at: nullable(Timestamp) })

export const SentReply = Type.Object({ id: MessageId, credits: Type.Integer() })

export type ListedMessage = Static<typeof ListedMessage>
export type MessageFilters = Static<typeof MessageFilters>
export type ListedMessageQuery = Static<typeof ListedMessageQuery>
export type ExplainedError = Static<typeof ExplainedError>
export type TimelineEvent = Static<typeof TimelineEvent>
export type ReceivedContent = Static<typeof ReceivedContent>
export type MessageDetail = Static<typeof MessageDetail>
export type ReplyWindow = Static<typeof ReplyWindow>
export type SentReply = Static<typeof SentReply>
