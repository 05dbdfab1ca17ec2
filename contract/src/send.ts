/**
 * The request body of `POST /v1/messages`, with WhatsApp's limits. The server checks the rules that a schema cannot
 * express clearly: exactly the field that `type` names, either an ID or a link, at most 10 rows in all sections.
 */
import { type Static, Type } from 'typebox'
import { degrees, httpLink, Recipient, UserId } from './formats.ts'
import { described, SenderId, TemplateId } from './ids.ts'
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
const optionalText = (maxLength: number, description?: string) => Type.Optional(text(maxLength, description))

const file = {
  id: optionalText(
    256,
    "The `med_…` ID of a file that you uploaded with `POST /v1/media`, or WhatsApp's ID of a file. Set either `id` or `link`.",
  ),
  link: Type.Optional(httpLink(2048, 'A public URL that WhatsApp downloads the file from. Set either `id` or `link`.')),
}
const caption = optionalText(1024, 'The text below the file.')

export const SendText = Type.Object(
  {
    body: text(4096, 'The text of the message.'),
    preview_url: Type.Optional(Type.Boolean({ description: 'Show a preview of the first link in the text.' })),
  },
  strict,
)
export const SendImage = Type.Object({ ...file, caption }, strict)
export const SendVideo = Type.Object({ ...file, caption }, strict)
export const SendAudio = Type.Object(
  {
    ...file,
    voice: Type.Optional(
      Type.Boolean({ description: 'Show the file as a voice message. Requires an OGG file with the Opus codec.' }),
    ),
  },
  strict,
)
export const SendDocument = Type.Object(
  { ...file, caption, filename: optionalText(240, 'The file name that the recipient sees.') },
  strict,
)
export const SendSticker = Type.Object(file, strict)

const coordinate = (limit: number, description: string) =>
  Type.Union([Type.Number({ minimum: -limit, maximum: limit }), Type.String(degrees)], {
    description: `${description} A number, or a string that contains one.`,
  })

export const SendLocation = Type.Object(
  {
    latitude: coordinate(90, 'The latitude in degrees, from -90 to 90.'),
    longitude: coordinate(180, 'The longitude in degrees, from -180 to 180.'),
    name: optionalText(1000, 'The name of the place.'),
    address: optionalText(1000, 'The address of the place.'),
  },
  strict,
)

const arrayOf = <T extends Type.TProperties>(properties: T) =>
  Type.Optional(Type.Array(Type.Object(properties, strict), { maxItems: 20 }))

export const SendContact = Type.Object(
  {
    name: Type.Object(
      {
        formatted_name: text(1000, 'The full name, as the recipient sees it.'),
        first_name: optionalText(1000),
        last_name: optionalText(1000),
        middle_name: optionalText(1000),
        prefix: optionalText(1000),
        suffix: optionalText(1000),
      },
      { ...strict, description: 'Set `formatted_name` and at least one other field.' },
    ),
    phones: arrayOf({ phone: optionalText(1000), type: optionalText(100), wa_id: optionalText(100) }),
    emails: arrayOf({ email: optionalText(1000), type: optionalText(100) }),
    urls: arrayOf({ url: optionalText(2048), type: optionalText(100) }),
    addresses: arrayOf({
      street: optionalText(1000),
      city: optionalText(1000),
      state: optionalText(1000),
      zip: optionalText(100),
      country: optionalText(1000),
      country_code: optionalText(10),
      type: optionalText(100),
    }),
    org: Type.Optional(
      Type.Object({ company: optionalText(1000), department: optionalText(1000), title: optionalText(1000) }, strict),
    ),
    birthday: Type.Optional(
      Type.String({
        format: 'date',
        description: 'A date in the format `YYYY-MM-DD`.',
        errorMessage: 'Enter a date that exists, such as 1990-12-31.',
      }),
    ),
  },
  strict,
)

export const SendReaction = Type.Object(
  {
    message_id: text(256, "The message to react to: its `msg_…` ID, or WhatsApp's ID."),
    emoji: Type.String({ maxLength: 32, description: 'The emoji. An empty string removes the reaction.' }),
  },
  strict,
)

export const SendTemplate = Type.Object(
  {
    id: Type.Optional(described(TemplateId, 'The ID of the template. Set either `id`, or `name` and `language`.')),
    name: optionalText(512, 'The name of the template. Requires `language`.'),
    language: optionalText(35, 'The language of the template, such as `en_US`.'),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The values of the variables, by `key`. `GET /v1/templates` lists the variables of each template.',
      }),
    ),
    flow: Type.Optional(
      Type.Object(
        {
          token: optionalText(200, 'Returned with the submission as `flow_token`. Generated if you omit it.'),
          data: Type.Optional(
            Type.Record(Type.String(), Type.Unknown(), { description: 'The input data of the first screen.' }),
          ),
        },
        { ...strict, description: 'Only for templates with a form button.' },
      ),
    ),
    tap_target_configuration: Type.Optional(
      Type.Array(
        Type.Object(
          { url: httpLink(2000, 'The page that opens.'), title: text(256, 'The title that the recipient sees.') },
          strict,
        ),
        {
          minItems: 1,
          maxItems: 1,
          description:
            'Makes the whole message open a page, under a title of its own. WhatsApp allows it for templates with a link button, for verified businesses.',
        },
      ),
    ),
  },
  strict,
)

export const SendRequest = Type.Object(
  {
    sender_id: Type.Optional(
      described(
        SenderId,
        'The number to send from. Optional if the workspace has only one sender, and in a reply, which is sent from the number of the quoted message.',
      ),
    ),
    to: Type.Optional(
      Type.String({
        ...Recipient,
        description:
          "The recipient's phone number in international format, digits only. A leading `+` is accepted and removed. In a reply to a received message you can omit it: the reply goes to the contact who wrote that message.",
      }),
    ),
    to_user_id: Type.Optional(
      Type.String({
        ...UserId,
        description:
          "WhatsApp's ID of the recipient, in place of `to`, for a contact whose phone number you do not know: `from_user_id` of their message. If WhatsApp has replaced the ID, the message goes to the new one. Authentication templates require a phone number.",
      }),
    ),
    type: Type.Enum([...sendTypes], {
      description: 'The message type. Set the field of the same name to the content.',
    }),
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
    in_reply_to: optionalText(
      256,
      "The message to reply to: its `msg_…` ID, or WhatsApp's ID. The recipient sees it as a quote.",
    ),
    recipient_identity_key_hash: optionalText(
      256,
      "The recipient's identity, as WhatsApp reported it. If WhatsApp knows another one, for example because the contact has a new phone, the message fails with the code 137000.",
    ),
    reference: optionalText(255, 'Your own reference, such as an order number. It is returned with the message.'),
  },
  {
    ...strict,
    description: 'The message to send. Set `type`, and the field of the same name.',
  },
)

export type SendText = Static<typeof SendText>
export type SendLocation = Static<typeof SendLocation>
export type SendContact = Static<typeof SendContact>
export type SendReaction = Static<typeof SendReaction>
export type SendTemplate = Static<typeof SendTemplate>
export type SendRequest = Static<typeof SendRequest>
