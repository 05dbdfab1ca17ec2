/**
 * The six events a workspace's endpoints can subscribe to. Receivers ignore event types and fields they do not know,
 * so nothing here forbids further fields.
 */
import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { FlowResponseId, MessageId, Timestamp, Uuid } from './ids.ts'
import { InboundMessage } from './inbound.ts'

export const eventTypes = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.received',
  'flow.completed',
] as const

export type EventType = (typeof eventTypes)[number]

export const MessageError = Type.Object(
  {
    code: Type.Union([Type.Integer(), Type.String()], {
      description: "The network's number; where the service itself gave up, a word such as `outcome_unknown`.",
    }),
    title: Type.String({ description: 'What the code means, in a few words.' }),
    message: Type.String({ description: "The network's message." }),
    details: Type.Union([Type.String(), Type.Null()], {
      description: 'What exactly was wrong, where the network says.',
    }),
  },
  { description: 'Why a message will not arrive.' },
)

/** Data of the four status events. `status` names the event; the failed one carries the error. */
export const MessageStatusData = Type.Object({
  message_id: MessageId,
  to: Type.String({ description: "The recipient's number, digits only, in international form." }),
  status: Type.Union([Type.Literal('sent'), Type.Literal('delivered'), Type.Literal('read'), Type.Literal('failed')], {
    description: 'The status the message reached; matches the event.',
  }),
  wa_message_id: Type.Union([Type.String(), Type.Null()], {
    description: "The network's id. Null only on `message.failed`, where the network refused the send call itself.",
  }),
  occurred_at: Timestamp,
  error: Type.Union([MessageError, Type.Null()], { description: 'Null unless the message failed.' }),
})

export const FlowFile = Type.Object({
  field: Type.String({ description: "The form's field that holds the file." }),
  index: Type.Integer({ minimum: 0, description: 'Names the file in `GET /v1/flow_responses/{id}/files/{index}`.' }),
  file_name: Type.String({ description: 'As the submitter named it. Do not use it as a path.' }),
  mime_type: Type.String(),
})

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const FlowSubmission = Type.Object({
  id: FlowResponseId,
  message_id: MessageId,
  from: nullableString("The submitter's number, digits only. Null where the network withholds it."),
  from_user_id: nullableString("The network's id for the submitter, scoped to the business."),
  flow_token: nullableString('The token chosen at sending, or the one the service made. Null if the handset lost it.'),
  flow_id: nullableString("The network's id of the form. Null when it could not be traced."),
  source_message_id: nullableString('The message that carried the form, `msg_<uuid>`, when it could be traced.'),
  template_id: nullableString('The template that carried the form, `tpl_<uuid>`, if one did.'),
  response: Type.Record(Type.String(), Type.Unknown(), {
    description: "Keys are the form's own field names; values are the submitted answers.",
  }),
  files: Type.Array(FlowFile, { description: 'Uploaded files; the contents are fetched apart.' }),
  received_at: Timestamp,
})

const messageSample = {
  message_id: 'msg_7d1c3c52-6a0a-4d8a-9e0b-1f2a3b4c5d6e',
  to: '491701234567',
  wa_message_id: 'wamid.HBgMNDkxNzAxMjM0NTY3FQIAERgSQTFCMkMzRDRFNUY2AA==',
}

export const MessageSent = event('message.sent', {
  description: 'The network accepted the message. For one-time codes this comes well before delivery.',
  data: MessageStatusData,
  sample: { ...messageSample, status: 'sent', occurred_at: '2026-08-01T09:30:01.000Z', error: null },
})

export const MessageDelivered = event('message.delivered', {
  description: 'The message reached the handset.',
  data: MessageStatusData,
  sample: { ...messageSample, status: 'delivered', occurred_at: '2026-08-01T09:30:03.000Z', error: null },
})

export const MessageRead = event('message.read', {
  description: 'The recipient opened the message; only where read receipts are on.',
  data: MessageStatusData,
  sample: { ...messageSample, status: 'read', occurred_at: '2026-08-01T09:31:12.000Z', error: null },
})

export const MessageFailed = event('message.failed', {
  description: "The message will not arrive; `data.error` carries the network's code.",
  data: MessageStatusData,
  sample: {
    ...messageSample,
    status: 'failed',
    occurred_at: '2026-08-01T09:30:02.000Z',
    error: {
      code: 131026,
      title: 'Message undeliverable',
      message: 'Message undeliverable',
      details: 'The recipient is not reachable on the network.',
    },
  },
})

export const MessageReceived = event('message.received', {
  description: "Somebody messaged one of the workspace's numbers; once per message.",
  data: InboundMessage,
  sample: {
    message_id: 'msg_0b9a8f7e-6d5c-4b3a-9281-706f5e4d3c2b',
    wa_message_id: 'wamid.HBgLMTY1MDU1NTAxMjMVAgASGBQzQUE4QjdDNkQ1RTRGAA==',
    from: '16505550123',
    from_user_id: 'US.13491200000000000001',
    profile_name: 'Ana Prueba',
    sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
    type: 'interactive',
    text: 'Confirm',
    received_at: '2026-08-01T09:30:00.000Z',
    in_reply_to: { wa_message_id: messageSample.wa_message_id, message_id: messageSample.message_id },
    reply: { id: 'confirm_1', title: 'Confirm' },
    media: null,
    location: null,
  },
})

export const FlowCompleted = event('flow.completed', {
  description: 'A form was submitted, however it was sent.',
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

export const eventSchemas = {
  'message.sent': MessageSent,
  'message.delivered': MessageDelivered,
  'message.read': MessageRead,
  'message.failed': MessageFailed,
  'message.received': MessageReceived,
  'flow.completed': FlowCompleted,
} as const satisfies Record<EventType, TObject>

export type MessageError = Static<typeof MessageError>
export type MessageStatusData = Static<typeof MessageStatusData>
export type FlowFile = Static<typeof FlowFile>
export type FlowSubmission = Static<typeof FlowSubmission>

/** One event as it goes over the wire; `type` tells which. */
export type Event = { [T in EventType]: Static<(typeof eventSchemas)[T]> }[EventType]
export type EventOf<T extends EventType> = Static<(typeof eventSchemas)[T]>

function event<T extends EventType, D extends TObject<TProperties>>(
  type: T,
  { description, data, sample }: { description: string; data: D; sample: Static<D> },
) {
  return Type.Object(
    {
      id: Uuid,
      type: Type.Literal(type, { description: 'The event type.' }),
      created_at: Timestamp,
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
