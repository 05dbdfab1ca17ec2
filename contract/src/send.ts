/**
 * The request of `POST /v1/messages`, with the network's own limits. What a schema cannot say plainly (exactly the
 * member that `type` names, an id or a link but not both, ten rows over all sections) is checked beside it by the
 * service.
 */
import { type Static, Type } from 'typebox'
import { httpLink, Recipient } from './formats.ts'
import { MessageId, SenderId, TemplateId } from './ids.ts'
import { SendInteractive } from './send-interactive.ts'

export const sendTypes = [
  'text',
  'template',
  'image',
  'video',
  'audio',
  'document',
  'sticker',
  'location',
  'contacts',
  'interactive',
  'reaction',
] as const
export type SendType = (typeof sendTypes)[number]

const strict = { additionalProperties: false } as const
const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description && { description }) })
const maybe = (maxLength: number, description?: string) => Type.Optional(text(maxLength, description))

const file = {
  id: maybe(256, "The network's id of an uploaded file. Give this or `link`."),
  link: Type.Optional(httpLink(2048, 'Where the network fetches the file. Give this or `id`.')),
}
const caption = maybe(1024)

export const SendText = Type.Object(
  { body: text(4096), preview_url: Type.Optional(Type.Boolean({ description: 'Show a preview of the first link.' })) },
  strict,
)
export const SendImage = Type.Object({ ...file, caption }, strict)
export const SendVideo = Type.Object({ ...file, caption }, strict)
export const SendAudio = Type.Object(
  { ...file, voice: Type.Optional(Type.Boolean({ description: 'Show it as a voice note (ogg with opus).' })) },
  strict,
)
export const SendDocument = Type.Object({ ...file, caption, filename: maybe(240) }, strict)
export const SendSticker = Type.Object(file, strict)

export const SendLocation = Type.Object(
  {
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    name: maybe(1000),
    address: maybe(1000),
  },
  strict,
)

const many = <T extends Type.TProperties>(properties: T) =>
  Type.Optional(Type.Array(Type.Object(properties, strict), { maxItems: 20 }))

export const SendContact = Type.Object(
  {
    name: Type.Object(
      {
        formatted_name: text(1000),
        first_name: maybe(1000),
        last_name: maybe(1000),
        middle_name: maybe(1000),
        prefix: maybe(1000),
        suffix: maybe(1000),
      },
      { ...strict, description: '`formatted_name` and at least one other part.' },
    ),
    phones: many({ phone: maybe(1000), type: maybe(100), wa_id: maybe(100) }),
    emails: many({ email: maybe(1000), type: maybe(100) }),
    urls: many({ url: maybe(2048), type: maybe(100) }),
    addresses: many({
      street: maybe(1000),
      city: maybe(1000),
      state: maybe(1000),
      zip: maybe(100),
      country: maybe(1000),
      country_code: maybe(10),
      type: maybe(100),
    }),
    org: Type.Optional(Type.Object({ company: maybe(1000), department: maybe(1000), title: maybe(1000) }, strict)),
    birthday: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        description: '`YYYY-MM-DD`',
        errorMessage: 'Enter the date as YYYY-MM-DD.',
      }),
    ),
  },
  strict,
)

export const SendReaction = Type.Object(
  {
    message_id: text(256, 'The message reacted to: its `msg_…` id, or the id the network gave it.'),
    emoji: Type.String({ maxLength: 32, description: 'An empty string takes the reaction back.' }),
  },
  strict,
)

export const SendTemplate = Type.Object(
  {
    id: Type.Optional(TemplateId),
    name: maybe(512, 'Together with `language`, in the place of `id`.'),
    language: maybe(35),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The value of each variable, under its `key` as `GET /v1/templates` lists it.',
      }),
    ),
    flow: Type.Optional(
      Type.Object(
        {
          token: maybe(200, 'Comes back with the submission as `flow_token`. Made by the service if left out.'),
          data: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "The first screen's data." })),
        },
        { ...strict, description: 'For a template with a form button.' },
      ),
    ),
  },
  strict,
)

export const SendRequest = Type.Object(
  {
    sender_id: Type.Optional(SenderId),
    to: Type.String({
      ...Recipient,
      description: 'Digits in international form; one leading `+` is accepted and dropped.',
    }),
    type: Type.Enum([...sendTypes], { description: 'Names the member that carries the content.' }),
    text: Type.Optional(SendText),
    template: Type.Optional(SendTemplate),
    image: Type.Optional(SendImage),
    video: Type.Optional(SendVideo),
    audio: Type.Optional(SendAudio),
    document: Type.Optional(SendDocument),
    sticker: Type.Optional(SendSticker),
    location: Type.Optional(SendLocation),
    contacts: Type.Optional(Type.Array(SendContact, { minItems: 1, maxItems: 257 })),
    interactive: Type.Optional(SendInteractive),
    reaction: Type.Optional(SendReaction),
    in_reply_to: Type.Optional(MessageId),
    reference: maybe(255, 'Your own note; it comes back with the message.'),
  },
  {
    ...strict,
    description: 'A message to send. Exactly the member that `type` names is present.',
    examples: [
      { to: '491701234567', type: 'text', text: { body: 'Your parcel is at the door.' } },
      {
        to: '491701234567',
        type: 'template',
        template: { name: 'order_update', language: 'en', variables: { 'body.first_name': 'Ana' } },
        reference: 'order 1001',
      },
    ],
  },
)

export type SendText = Static<typeof SendText>
export type SendLocation = Static<typeof SendLocation>
export type SendContact = Static<typeof SendContact>
export type SendReaction = Static<typeof SendReaction>
export type SendTemplate = Static<typeof SendTemplate>
export type SendRequest = Static<typeof SendRequest>
