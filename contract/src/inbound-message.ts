/** An inbound message as the API returns it: the data of `message.received`, and the time window for replies. */
import { type Static, Type } from 'typebox'
import { Moment, Phone } from './formats.ts'
import { described, MessageId, nullable, SenderId, Timestamp } from './ids.ts'
import { InboundMessage, inboundTypes } from './inbound.ts'

const { message_id, wa_message_id: _, ...fields } = InboundMessage.properties

export const StoredInboundMessage = Type.Object(
  {
    message_id,
    object: Type.Literal('inbound_message', { description: 'The object type.' }),
    wa_message_id: nullable(
      Type.String(),
      "WhatsApp's ID of the message. Null if the contact was erased: the ID contains their number.",
    ),
    ...fields,
    window_expires_at: nullable(
      Timestamp,
      'When the 24 hours end in which WhatsApp accepts any message to this person: 24 hours after their latest private ' +
        'message to this sender. For information: WhatsApp decides. Null for a message in a group.',
    ),
  },
  {
    $id: 'InboundMessage',
    description: 'An inbound message. Every field is always present; fields that do not apply are null.',
    examples: [
      {
        message_id: 'msg_0b9a8f7e-6d5c-4b3a-9281-706f5e4d3c2b',
        object: 'inbound_message',
        wa_message_id: 'wamid.HBgLMTY1MDU1NTAxMjMVAgASGBQzQUE4QjdDNkQ1RTRGAA==',
        from: '16505550123',
        from_user_id: 'US.13491200000000000001',
        from_parent_user_id: null,
        profile_name: 'Ana Prueba',
        sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
        type: 'text',
        text: 'Are you open today?',
        received_at: '2026-08-01T09:30:00.000Z',
        in_reply_to: null,
        reply: null,
        media: null,
        location: null,
        username: 'ana.prueba',
        group_id: null,
        forwarded: false,
        contacts: null,
        order: null,
        reaction: null,
        referral: null,
        referred_product: null,
        edit: null,
        deletion: null,
        unsupported: null,
        standby: false,
        window_expires_at: '2026-08-02T09:30:00.000Z',
      },
    ],
  },
)

const moment = (description: string) => Type.Optional(Type.String({ ...Moment, description }))

/** The filters of `GET /v1/inbound_messages`, in addition to those of every list. */
export const InboundMessageFilters = Type.Object({
  sender_id: Type.Optional(described(SenderId, 'The number that received the message.')),
  from: Type.Optional(Type.String({ ...Phone, description: "The contact's phone number. Exact match." })),
  type: Type.Optional(Type.Enum([...inboundTypes], { description: 'The message type.' })),
  received_after: moment('Only messages whose `received_at` is after this time, in ISO 8601 format.'),
  received_before: moment('Only messages whose `received_at` is before this time, in ISO 8601 format.'),
})

export const InboundMessageParams = Type.Object({ id: described(MessageId, 'The `message_id`.') })

/** The body of `POST /v1/inbound_messages/{id}/read`. */
export const MarkAsRead = Type.Object(
  {
    typing: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Also show the contact that you are typing. WhatsApp shows it until your next message, for at most 25 seconds.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ typing: true }] },
)

export type StoredInboundMessage = Static<typeof StoredInboundMessage>
export type InboundMessageFilters = Static<typeof InboundMessageFilters>
export type MarkAsRead = Static<typeof MarkAsRead>
