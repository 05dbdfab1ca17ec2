/** What somebody sent to one of the workspace's numbers: the `data` of `message.received`. */
import { type Static, Type } from 'typebox'
import { MessageId, SenderId, Timestamp } from './ids.ts'

/** The kinds a receiver may see today. New ones may appear: treat an unknown kind as `unsupported`. */
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

const nullable = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const InReplyTo = Type.Object(
  {
    wa_message_id: Type.String({ description: "The network's id of the quoted message." }),
    message_id: nullable(MessageId, 'Set only when the quoted message is one this workspace sent.'),
  },
  { description: 'The earlier message that the sender answered.' },
)

export const Reply = Type.Object(
  {
    id: Type.String({ description: 'The value the workspace gave the button or row. Branch on this.' }),
    title: Type.String({ description: 'The label that was tapped. It changes when the label is reworded.' }),
  },
  { description: 'The tapped button or list row.' },
)

export const InboundMedia = Type.Object(
  {
    id: Type.String({ description: "The network's id of the file." }),
    mime_type: Type.String({ description: 'As the network gave it; may carry parameters.' }),
    filename: nullable(Type.String(), 'Documents only, as the sender named it. Do not use it as a path.'),
    caption: nullable(Type.String(), 'Also given as `text`.'),
  },
  { description: 'The file of an image, video, audio, document or sticker message.' },
)

export const InboundLocation = Type.Object(
  {
    latitude: Type.Number(),
    longitude: Type.Number(),
    name: nullable(Type.String(), 'Set when a place was picked from the map.'),
    address: nullable(Type.String(), 'Set when a place was picked from the map.'),
    url: nullable(Type.String(), 'A link that belongs to the place.'),
  },
  { description: 'A place. A shared current position carries coordinates only.' },
)

export const InboundMessage = Type.Object(
  {
    message_id: MessageId,
    wa_message_id: Type.String({ description: "The network's id." }),
    from: nullable(Type.String(), "The sender's number, digits only. Null where the network withholds it."),
    from_user_id: nullable(
      Type.String(),
      "The network's id for the sender, scoped to the business. Identifies the sender where `from` is null.",
    ),
    profile_name: nullable(Type.String(), 'The name the sender chose. Unverified.'),
    sender_id: SenderId,
    type: Type.String({
      description: `The kind of message: ${inboundTypes.map((type) => `\`${type}\``).join(', ')}. New values may appear; treat an unknown one as \`unsupported\`.`,
    }),
    text: nullable(
      Type.String(),
      'Typed text, caption, or label of the tapped button. Null for location, contacts, order and form.',
    ),
    received_at: Timestamp,
    in_reply_to: nullable(InReplyTo, "Set when the sender used the network's reply feature."),
    reply: nullable(Reply, 'Set for `button`, and for `interactive` unless it is a submitted form.'),
    media: nullable(InboundMedia, 'Set for image, video, audio, document and sticker.'),
    location: nullable(InboundLocation, 'Set for `location`.'),
  },
  { description: 'An inbound message. Every field is always present; one that does not apply is null.' },
)

export type InReplyTo = Static<typeof InReplyTo>
export type Reply = Static<typeof Reply>
export type InboundMedia = Static<typeof InboundMedia>
export type InboundLocation = Static<typeof InboundLocation>
export type InboundMessage = Static<typeof InboundMessage>
