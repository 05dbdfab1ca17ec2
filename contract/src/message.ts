/** A message sent with an API key, and its status. */
import { type Static, Type } from 'typebox'
import { MessageError, MessagePricing } from './events.ts'
import { Moment, Recipient, UserId } from './formats.ts'
import { described, MessageId, nullable, SenderId, TemplateId, Timestamp } from './ids.ts'
import { sendTypes } from './send.ts'

export const messageStatuses = ['queued', 'sent', 'delivered', 'read', 'failed'] as const
export type MessageStatus = (typeof messageStatuses)[number]

const fields = {
  id: described(MessageId, 'The ID of the message.'),
  object: Type.Literal('message', { description: 'The object type.' }),
  sender_id: described(SenderId, 'The number that the message was sent from.'),
  to: nullable(
    Type.String(),
    "The recipient's phone number in international format, digits only. Null if the message was sent to a user ID, or the contact was erased.",
  ),
  to_user_id: nullable(Type.String(), "WhatsApp's ID of the recipient. Null if it is not known."),
  type: Type.Enum([...sendTypes], { description: 'The message type.' }),
  template_id: nullable(TemplateId, 'The template. Null unless `type` is `template`.'),
  reference: Type.Union([Type.String(), Type.Null()], {
    description: 'Your own reference, as you set it when sending.',
  }),
  status: Type.Enum([...messageStatuses], {
    description:
      '`queued`, `sent`, `delivered`, `read` or `failed`. A status never moves backward. `delivered` and `read` replace `failed`, because the device confirmed them.',
  }),
  wa_message_id: Type.Union([Type.String(), Type.Null()], {
    description: "WhatsApp's ID of the message. Null until WhatsApp accepts it, and if the contact was erased.",
  }),
  credits: Type.Integer({
    minimum: 0,
    description: 'The price of the message. Credits for a failed message are refunded.',
  }),
  error: Type.Union([MessageError, Type.Null()], {
    description: 'Why the message failed. Null unless `status` is `failed`.',
  }),
  pricing: nullable(MessagePricing, 'How WhatsApp billed the message. Null while it is not known.'),
  created_at: described(Timestamp, 'When the message was created. ISO 8601, UTC.'),
  sent_at: nullable(Timestamp, 'When WhatsApp accepted the message.'),
  delivered_at: nullable(Timestamp, "When the message was delivered to the recipient's device."),
  read_at: nullable(Timestamp, 'When the recipient read the message.'),
  failed_at: nullable(Timestamp, 'When the message failed.'),
}

const example = {
  id: 'msg_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
  object: 'message',
  sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
  to: '491701234567',
  to_user_id: null,
  type: 'template',
  template_id: 'tpl_9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
  reference: 'order 1001',
  status: 'queued',
  wa_message_id: null,
  credits: 1,
  error: null,
  pricing: null,
  created_at: '2026-11-15T09:30:00.000Z',
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
}

export const Message = Type.Object(fields, { $id: 'Message', description: 'An outbound message.', examples: [example] })

export const MessageStep = Type.Object({
  status: Type.Enum([...messageStatuses], { description: 'The new status.' }),
  occurred_at: described(Timestamp, 'When the status changed. ISO 8601, UTC.'),
  error: nullable(MessageError, 'Why the message failed. Null unless `status` is `failed`.'),
})

export const MessageWithHistory = Type.Object(
  { ...fields, history: Type.Array(MessageStep, { description: 'Every status change of the message, oldest first.' }) },
  {
    $id: 'MessageWithHistory',
    description: 'An outbound message with its status history.',
    examples: [
      {
        ...example,
        status: 'delivered',
        wa_message_id: 'wamid.HBgMNDkxNzAxMjM0NTY3FQIAERgSQTFCMkMzRDRFNUY2AA==',
        pricing: { category: 'utility', type: 'regular', model: 'PMP', billable: true, cost: null },
        sent_at: '2026-11-15T09:30:01.001Z',
        delivered_at: '2026-11-15T09:30:03.002Z',
        history: [
          { status: 'queued', occurred_at: '2026-11-15T09:30:00.000Z', error: null },
          { status: 'sent', occurred_at: '2026-11-15T09:30:01.001Z', error: null },
          { status: 'delivered', occurred_at: '2026-11-15T09:30:03.002Z', error: null },
        ],
      },
    ],
  },
)

const moment = (description: string) => Type.Optional(Type.String({ ...Moment, description }))

/** The filters of `GET /v1/messages`, in addition to those of every list. */
export const MessageFilters = Type.Object({
  status: Type.Optional(Type.Enum([...messageStatuses], { description: 'Only messages with this status.' })),
  to: Type.Optional(Type.String({ ...Recipient, description: "The recipient's phone number. Exact match." })),
  to_user_id: Type.Optional(Type.String({ ...UserId, description: "WhatsApp's ID of the recipient. Exact match." })),
  reference: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Your own reference of the message. Exact match.',
      examples: ['order 1001'],
    }),
  ),
  created_after: moment('Only messages created after this time, in ISO 8601 format.'),
  created_before: moment('Only messages created before this time, in ISO 8601 format.'),
})

export type Message = Static<typeof Message>
export type MessageStep = Static<typeof MessageStep>
export type MessageWithHistory = Static<typeof MessageWithHistory>
export type MessageFilters = Static<typeof MessageFilters>
