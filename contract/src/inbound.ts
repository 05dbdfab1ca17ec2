/** A message that one of the workspace's numbers received: the `data` of `message.received`. */
import { type Static, Type } from 'typebox'
import { described, MessageId, nullable, SenderId, Timestamp } from './ids.ts'

/** The message types so far. Types may be added: treat an unknown one as `unsupported`. */
export const inboundTypes = [
  'text',
  'image',
  'video',
  'document',
  'audio',
  'sticker',
  'location',
  'button',
  'interactive',
  'contacts',
  'order',
  'unsupported',
] as const

export type InboundType = (typeof inboundTypes)[number]

export const InReplyTo = Type.Object(
  {
    wa_message_id: Type.String({ description: "WhatsApp's ID of the quoted message." }),
    message_id: nullable(MessageId, 'The ID of the quoted message. Null unless this workspace sent it.'),
  },
  { description: 'The message that this message is a reply to.' },
)

export const Reply = Type.Object(
  {
    id: Type.String({ description: 'The ID that you gave the button or row. Branch on this field.' }),
    title: Type.String({
      description: 'The label of the button or row. Do not branch on it: it changes when you reword the label.',
    }),
  },
  { description: 'The tapped button or list row.' },
)

export const InboundMedia = Type.Object(
  {
    id: Type.String({ description: "WhatsApp's ID of the file." }),
    mime_type: Type.String({ description: 'The media type that WhatsApp reported. It can contain parameters.' }),
    filename: nullable(
      Type.String(),
      'The file name of a document, chosen by the sender. Do not use it as a file path.',
    ),
    caption: nullable(Type.String(), 'The caption. Also available as `text`.'),
  },
  { description: 'The file of an image, video, audio, document or sticker message.' },
)

export const InboundLocation = Type.Object(
  {
    latitude: Type.Number({ description: 'The latitude in degrees.' }),
    longitude: Type.Number({ description: 'The longitude in degrees.' }),
    name: nullable(Type.String(), 'The name of the place. Set if the sender picked it on the map.'),
    address: nullable(Type.String(), 'The address of the place. Set if the sender picked it on the map.'),
    url: nullable(Type.String(), 'A link for the place.'),
  },
  { description: 'A location. A shared current position has coordinates only.' },
)

export const InboundMessage = Type.Object(
  {
    message_id: described(MessageId, 'The ID of the message.'),
    wa_message_id: Type.String({ description: "WhatsApp's ID of the message." }),
    from: nullable(Type.String(), "The sender's phone number, digits only. Null if WhatsApp does not provide it."),
    from_user_id: nullable(
      Type.String(),
      "WhatsApp's ID of the sender, unique within your business. Identifies the sender if `from` is null.",
    ),
    profile_name: nullable(Type.String(), 'The profile name that the sender chose. It is not verified.'),
    sender_id: described(SenderId, 'The number that received the message.'),
    type: Type.String({
      description: `The message type: ${inboundTypes.map((type) => `\`${type}\``).join(', ')}. Types may be added; treat an unknown one as \`unsupported\`.`,
    }),
    text: nullable(
      Type.String(),
      'The text, the caption, or the label of the tapped button. Null for locations, contacts, orders and submitted forms.',
    ),
    received_at: described(Timestamp, 'When the message was sent, according to WhatsApp. ISO 8601, UTC.'),
    in_reply_to: nullable(
      InReplyTo,
      "The message that this message replies to. Set if the sender used WhatsApp's reply feature.",
    ),
    reply: nullable(
      Reply,
      'The tapped button or list row. Set for `button`, and for `interactive` except submitted forms.',
    ),
    media: nullable(InboundMedia, 'The file. Set for `image`, `video`, `audio`, `document` and `sticker`.'),
    location: nullable(InboundLocation, 'The location. Set for `location`.'),
  },
  { description: 'An inbound message. Every field is always present; fields that do not apply are null.' },
)

export type InReplyTo = Static<typeof InReplyTo>
export type Reply = Static<typeof Reply>
export type InboundMedia = Static<typeof InboundMedia>
export type InboundLocation = Static<typeof InboundLocation>
export type InboundMessage = Static<typeof InboundMessage>
