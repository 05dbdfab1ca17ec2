/**
 * The event types that webhook endpoints can subscribe to. Receivers have to ignore unknown event types and fields,
 * so these schemas allow additional fields.
 */
import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { described, FlowResponseId, MessageId, nullable, Timestamp, Uuid } from './ids.ts'
import { EchoedMessage, InboundMessage } from './inbound.ts'
import { NetworkUpdateData } from './network-update.ts'
import {
  ContactPreferenceData,
  ControlChangedData,
  CreditsLowData,
  HistoryImportedData,
  SenderStatusData,
  serviceSamples,
  TemplateStatusData,
  WebhookDisabledData,
} from './service-events.ts'

export const eventTypes = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.received',
  'message.echoed',
  'flow.completed',
  'template.status_changed',
  'sender.status_changed',
  'contact.preference_changed',
  'conversation.control_changed',
  'history.imported',
  'webhook.disabled',
  'credits.low',
  'network.update',
] as const

export type EventType = (typeof eventTypes)[number]

/** The type that `GET /v1/events` returns only if it is asked for: it repeats much of what other events say. */
export const updateEventType = 'network.update' satisfies EventType

export const MessageError = Type.Object(
  {
    code: Type.Union([Type.Integer(), Type.String()], {
      description: "WhatsApp's error code, or a word such as `outcome_unknown` if the service stopped trying.",
    }),
    title: Type.String({ description: 'A short description of the code.' }),
    message: Type.String({ description: "WhatsApp's error message." }),
    details: Type.Union([Type.String(), Type.Null()], {
      description: 'More detail, if WhatsApp provided any.',
    }),
  },
  { description: 'Why the message failed.' },
)

export const MessagePricing = Type.Object(
  {
    category: Type.Union([Type.String(), Type.Null()], {
      description:
        'The category that WhatsApp billed the message in, such as `marketing`, `utility`, `authentication` or `service`.',
    }),
    type: Type.Union([Type.String(), Type.Null()], {
      description: 'The price type: `regular`, or free as `free_customer_service` or `free_entry_point`.',
    }),
    model: Type.Union([Type.String(), Type.Null()], { description: 'The pricing model, such as `PMP` (per message).' }),
    billable: nullable(Type.Boolean(), 'Whether WhatsApp bills the message. Null if it does not say.'),
    cost: nullable(
      Type.Object({
        amount: Type.String({ description: 'The amount, as a decimal number.' }),
        currency: nullable(Type.String(), 'The currency code.'),
      }),
      'The amount that WhatsApp bills for the message. Null if it does not say.',
    ),
  },
  { description: 'How WhatsApp billed the message.' },
)

/** The data of the four status events. */
export const MessageStatusData = Type.Object({
  message_id: described(MessageId, 'The ID of the message.'),
  to: nullable(
    Type.String(),
    "The recipient's phone number in international format, digits only. Null if the message was sent to a user ID, or the contact was erased.",
  ),
  to_user_id: nullable(Type.String(), "WhatsApp's ID of the recipient. Null if it is not known."),
  status: Type.Union([Type.Literal('sent'), Type.Literal('delivered'), Type.Literal('read'), Type.Literal('failed')], {
    description: 'The new status of the message. It matches the event type.',
  }),
  wa_message_id: Type.Union([Type.String(), Type.Null()], {
    description:
      "WhatsApp's ID of the message. Null only on `message.failed`, if WhatsApp rejected the send request, and if the contact was erased.",
  }),
  occurred_at: described(
    Timestamp,
    'When the status changed. ISO 8601, UTC. WhatsApp reports whole seconds; the milliseconds keep sent, delivered and read in order. Events may arrive out of order; sort them by this time.',
  ),
  error: Type.Union([MessageError, Type.Null()], {
    description: 'Why the message failed. Null unless `status` is `failed`.',
  }),
  pricing: Type.Union([MessagePricing, Type.Null()], {
    description: 'How WhatsApp billed the message. Null while it is not known.',
  }),
  reference: nullable(Type.String(), 'Your own reference, as you set it when sending. Null if you set none.'),
})

export const FlowFile = Type.Object({
  field: Type.String({ description: 'The field of the form that the file was uploaded to.' }),
  index: Type.Integer({ minimum: 0, description: 'The index to use in `GET /v1/flow_responses/{id}/files/{index}`.' }),
  file_name: Type.String({
    description: 'The original file name, chosen by the submitter. Do not use it as a file path.',
  }),
  mime_type: Type.String({ description: 'The media type of the file.' }),
})

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const FlowSubmission = Type.Object({
  id: described(FlowResponseId, 'The ID of the form submission.'),
  message_id: described(MessageId, 'The ID of the inbound message that contained the submission.'),
  from: nullableString("The submitter's phone number, digits only. Null if WhatsApp does not provide it."),
  from_user_id: nullableString("WhatsApp's ID of the submitter, unique within your business."),
  flow_token: nullableString(
    'The token that you set when sending, or a generated one. Null if the device did not return it.',
  ),
  flow_id: nullableString("WhatsApp's ID of the form. Null if it is not known."),
  source_message_id: nullableString(
    'The ID of the message that contained the form, `msg_<uuid>`. Null if it is not known.',
  ),
  template_id: nullableString(
    'The ID of the template that contained the form, `tpl_<uuid>`. Null if it was not a template.',
  ),
  response: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The submitted values, by the field names of the form. Numbers are exactly as WhatsApp sent them; many JSON parsers ' +
      'round integers beyond 2^53.',
  }),
  files: Type.Array(FlowFile, {
    description: 'The uploaded files. Download each with `GET /v1/flow_responses/{id}/files/{index}`.',
  }),
  received_at: described(Timestamp, 'When the form was submitted, according to WhatsApp. ISO 8601, UTC.'),
})

const messageSample = {
  message_id: 'msg_7d1c3c52-6a0a-4d8a-9e0b-1f2a3b4c5d6e',
  to: '491701234567',
  to_user_id: 'DE.13491200000000000001',
  wa_message_id: 'wamid.HBgMNDkxNzAxMjM0NTY3FQIAERgSQTFCMkMzRDRFNUY2AA==',
  reference: 'order 1001',
}
const pricingSample = { category: 'utility', type: 'regular', model: 'PMP', billable: true, cost: null }

export const MessageSent = event('message.sent', {
  description: 'WhatsApp accepted the message. For one-time codes, delivery can follow much later.',
  data: MessageStatusData,
  sample: { ...messageSample, status: 'sent', occurred_at: '2026-08-01T09:30:01.001Z', error: null, pricing: null },
})

export const MessageDelivered = event('message.delivered', {
  description: "The message was delivered to the recipient's device.",
  data: MessageStatusData,
  sample: {
    ...messageSample,
    status: 'delivered',
    occurred_at: '2026-08-01T09:30:03.002Z',
    error: null,
    pricing: pricingSample,
  },
})

export const MessageRead = event('message.read', {
  description: 'The recipient read the message. Sent only if the recipient has read receipts turned on.',
  data: MessageStatusData,
  sample: {
    ...messageSample,
    status: 'read',
    occurred_at: '2026-08-01T09:31:12.003Z',
    error: null,
    pricing: pricingSample,
  },
})

export const MessageFailed = event('message.failed', {
  description: "The message could not be delivered. `data.error` has WhatsApp's error code.",
  data: MessageStatusData,
  sample: {
    ...messageSample,
    status: 'failed',
    occurred_at: '2026-08-01T09:30:02.003Z',
    error: {
      code: 131026,
      title: 'Message undeliverable',
      message: 'Message undeliverable',
      details: 'The recipient is not reachable on WhatsApp.',
    },
    pricing: null,
  },
})

const receivedSample = {
  message_id: 'msg_0b9a8f7e-6d5c-4b3a-9281-706f5e4d3c2b',
  wa_message_id: 'wamid.HBgLMTY1MDU1NTAxMjMVAgASGBQzQUE4QjdDNkQ1RTRGAA==',
  from: '16505550123',
  from_user_id: 'US.13491200000000000001',
  from_parent_user_id: null,
  profile_name: 'Ana Prueba',
  sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
  type: 'interactive',
  text: 'Confirm',
  received_at: '2026-08-01T09:30:00.000Z',
  in_reply_to: { wa_message_id: messageSample.wa_message_id, message_id: messageSample.message_id },
  reply: { id: 'confirm_1', title: 'Confirm', description: null },
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
}
const { from: to, from_user_id: to_user_id, from_parent_user_id: to_parent_user_id, ...echoSample } = receivedSample

export const MessageReceived = event('message.received', {
  description: "One of the workspace's numbers received a message. Sent once per message.",
  data: InboundMessage,
  sample: receivedSample,
})

export const MessageEchoed = event('message.echoed', {
  description:
    'The business sent a message without this service: in the WhatsApp Business app, through an agent of Meta or another app. Sent once per message.',
  data: EchoedMessage,
  sample: {
    ...echoSample,
    wa_message_id: 'wamid.HBgLMTY1MDU1NTAxMjMVAgARGBI5QTNDQTVCM0Q0Q0Q2AA==',
    to,
    to_user_id,
    to_parent_user_id,
    type: 'text',
    text: 'We are open until six.',
    in_reply_to: null,
    reply: null,
    source: 'business_app',
  },
})

export const FlowCompleted = event('flow.completed', {
  description: 'A form was submitted. It does not matter how the form was sent.',
  data: FlowSubmission,
  sample: {
    id: 'frs_5c4b3a29-1807-4f6e-8d5c-4b3a29180706',
    message_id: 'msg_0b9a8f7e-6d5c-4b3a-9281-706f5e4d3c2b',
    from: '16505550123',
    from_user_id: 'US.13491200000000000001',
    flow_token: 'claim-1001',
    flow_id: '800000000000001',
    source_message_id: messageSample.message_id,
    template_id: 'tpl_9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
    response: { claim_type: 'auto', photos: [{ file_name: 'IMG_1.jpg', mime_type: 'image/jpeg' }] },
    files: [{ field: 'photos', index: 0, file_name: 'IMG_1.jpg', mime_type: 'image/jpeg' }],
    received_at: '2026-08-01T09:30:00.000Z',
  },
})

export const TemplateStatusChanged = event('template.status_changed', {
  description:
    'The status of a template changed: WhatsApp approved, rejected or paused it, for example. `DELETED` means that it was deleted at WhatsApp.',
  data: TemplateStatusData,
  sample: serviceSamples.template,
})

export const SenderStatusChanged = event('sender.status_changed', {
  description:
    'The status or the quality rating of a sender changed: WhatsApp banned, restricted or reconnected the number, or rates its messages differently.',
  data: SenderStatusData,
  sample: serviceSamples.sender,
})

export const ContactPreferenceChanged = event('contact.preference_changed', {
  description:
    'A contact stopped or resumed marketing messages from one of your numbers in WhatsApp. While they are stopped, Parley rejects marketing templates to this contact.',
  data: ContactPreferenceData,
  sample: serviceSamples.preference,
})

export const ConversationControlChanged = event('conversation.control_changed', {
  description:
    'Another app or an agent took a conversation, or handed it over. While others handle it, its messages have `standby`: true.',
  data: ControlChangedData,
  sample: serviceSamples.control,
})

export const HistoryImported = event('history.imported', {
  description:
    'WhatsApp sent past messages of a number that was connected, and they were imported. Sent once per chunk. The messages have no events of their own.',
  data: HistoryImportedData,
  sample: serviceSamples.history,
})

export const WebhookDisabled = event('webhook.disabled', {
  description:
    'Another webhook of the workspace was disabled, after 20 failed attempts in a row or by a user. Its events are held until it is enabled. Never sent to the disabled webhook itself.',
  data: WebhookDisabledData,
  sample: serviceSamples.webhook,
})

export const CreditsLow = event('credits.low', {
  description:
    'The credits of the workspace fell to its low-credit warning or below. Sent once, until the balance was above it again.',
  data: CreditsLowData,
  sample: serviceSamples.credits,
})

export const NetworkUpdated = event('network.update', {
  description:
    'WhatsApp sent a change that Parley does not understand, or not completely. `data.value` is the change as it arrived. `GET /v1/events` returns this type only if you ask for it with `type`.',
  data: NetworkUpdateData,
  sample: {
    update_id: 'upd_8c7b6a59-4837-4261-9504-f3e2d1c0b9a8',
    field: 'calls',
    sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
    outcome: 'unknown_field',
    value: {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550780001', phone_number_id: '106540000000001' },
      calls: [{ id: 'wacid.1', from: '16505550123', event: 'terminate', timestamp: '1786000000' }],
    },
  },
})

export const eventSchemas = {
  'message.sent': MessageSent,
  'message.delivered': MessageDelivered,
  'message.read': MessageRead,
  'message.failed': MessageFailed,
  'message.received': MessageReceived,
  'message.echoed': MessageEchoed,
  'flow.completed': FlowCompleted,
  'template.status_changed': TemplateStatusChanged,
  'sender.status_changed': SenderStatusChanged,
  'contact.preference_changed': ContactPreferenceChanged,
  'conversation.control_changed': ConversationControlChanged,
  'history.imported': HistoryImported,
  'webhook.disabled': WebhookDisabled,
  'credits.low': CreditsLow,
  'network.update': NetworkUpdated,
} as const satisfies Record<EventType, TObject>

/** The type of events that a person sends to check an endpoint. Endpoints get them without subscribing. */
export const testEventType = 'webhook.test'

export const WebhookTest = event(testEventType, {
  description:
    'A test event, sent from the console or the command line. Endpoints receive it without subscribing. Respond with 2xx and otherwise ignore it.',
  data: Type.Object({
    test: Type.Literal(true, { description: 'Always true.' }),
    example_of: Type.String({ description: 'The event type that the test event shows.', examples: ['message.sent'] }),
    example: Type.Record(Type.String(), Type.Unknown(), {
      description: 'An example of `data` for that event type. Its IDs do not exist.',
    }),
  }),
  sample: {
    test: true,
    example_of: 'message.sent',
    example: { ...messageSample, status: 'sent', occurred_at: '2026-08-01T09:30:01.001Z', error: null, pricing: null },
  },
})

/** Every event that an endpoint can receive. */
export const receivedEventSchemas = { ...eventSchemas, [testEventType]: WebhookTest } as const

export type MessageError = Static<typeof MessageError>
export type MessagePricing = Static<typeof MessagePricing>
export type MessageStatusData = Static<typeof MessageStatusData>
export type FlowFile = Static<typeof FlowFile>
export type FlowSubmission = Static<typeof FlowSubmission>

/** One event as it is delivered; `type` is the discriminator. */
export type Event = { [T in ReceivedEventType]: EventOf<T> }[ReceivedEventType]
export type EventOf<T extends ReceivedEventType> = Static<(typeof receivedEventSchemas)[T]>
export type ReceivedEventType = keyof typeof receivedEventSchemas

function event<T extends string, D extends TObject<TProperties>>(
  type: T,
  { description, data, sample }: { description: string; data: D; sample: Static<D> },
) {
  return Type.Object(
    {
      id: described(Uuid, 'The ID of the event. Use it to ignore duplicates.'),
      type: Type.Literal(type, { description: 'The event type.' }),
      created_at: described(Timestamp, 'When the event was created. ISO 8601, UTC.'),
      data,
    },
    {
      title: type,
      description,
      examples: [
        { id: '2f1e0d9c-8b7a-4695-8473-625140fedcba', type, created_at: '2026-08-01T09:31:13.482Z', data: sample },
      ],
    },
  )
}
