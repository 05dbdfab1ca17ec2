/** A message that one of the workspace's numbers received, or that the business wrote elsewhere: the `data` of `message.received` and `message.echoed`. */
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
    description: nullable(Type.String(), 'The description of the list row. Null if it has none, and for buttons.'),
  },
  { description: 'The tapped button or list row.' },
)

export const InboundMedia = Type.Object(
  {
    id: Type.String({ description: "WhatsApp's ID of the file." }),
    mime_type: Type.String({ description: 'The media type that WhatsApp reported. It can contain parameters.' }),
    filename: nullable(
      Type.String(),
      'The file name of a document, chosen by the contact. Do not use it as a file path.',
    ),
    caption: nullable(Type.String(), 'The caption. Also available as `text`.'),
    sha256: nullable(Type.String(), 'The SHA-256 hash of the file, in hex. Null if WhatsApp did not send it.'),
    voice: Type.Boolean({ description: 'True for a voice message, false for any other file.' }),
    url: Type.String({
      description:
        'Where to download the file: `GET /v1/inbound_messages/{id}/media` of this service. Requires an API key with the scope `inbound:read`.',
    }),
  },
  { description: 'The file of an image, video, audio, document or sticker message.' },
)

export const InboundLocation = Type.Object(
  {
    latitude: Type.Number({ description: 'The latitude in degrees.' }),
    longitude: Type.Number({ description: 'The longitude in degrees.' }),
    name: nullable(Type.String(), 'The name of the place. Set if the contact picked it on the map.'),
    address: nullable(Type.String(), 'The address of the place. Set if the contact picked it on the map.'),
    url: nullable(Type.String(), 'A link for the place.'),
  },
  { description: 'A location. A shared current position has coordinates only.' },
)

export const InboundContact = Type.Object(
  {
    name: nullable(Type.String(), 'The full name, as the card shows it.'),
    phones: Type.Array(
      Type.Object({
        phone: nullable(Type.String(), 'The phone number, as it is written on the card.'),
        wa_id: nullable(Type.String(), 'The number on WhatsApp, digits only. Null if WhatsApp does not know it.'),
        type: nullable(Type.String(), 'The kind of number, such as `CELL` or `WORK`.'),
      }),
      { description: 'The phone numbers on the card.' },
    ),
    emails: Type.Array(
      Type.Object({
        email: nullable(Type.String(), 'The email address.'),
        type: nullable(Type.String(), 'The kind of address, such as `HOME` or `WORK`.'),
      }),
      { description: 'The email addresses on the card.' },
    ),
    org: nullable(
      Type.Object({
        company: nullable(Type.String(), 'The company.'),
        department: nullable(Type.String(), 'The department.'),
        title: nullable(Type.String(), 'The job title.'),
      }),
      'Where the person works.',
    ),
    addresses: Type.Array(
      Type.Object({
        street: nullable(Type.String(), 'The street and number.'),
        city: nullable(Type.String(), 'The city.'),
        state: nullable(Type.String(), 'The state.'),
        zip: nullable(Type.String(), 'The postal code.'),
        country: nullable(Type.String(), 'The country.'),
        country_code: nullable(Type.String(), 'The country as a code of two letters.'),
        type: nullable(Type.String(), 'The kind of address, such as `HOME` or `WORK`.'),
      }),
      { default: [], description: 'The postal addresses on the card.' },
    ),
    urls: Type.Array(
      Type.Object({
        url: nullable(Type.String(), 'The link.'),
        type: nullable(Type.String(), 'The kind of link, such as `HOME` or `WORK`.'),
      }),
      { default: [], description: 'The links on the card.' },
    ),
    birthday: nullable(Type.String(), 'The date of birth, as it is written on the card: usually `YYYY-MM-DD`.'),
    origin: nullable(
      Type.String(),
      '`contact_request` if the contact shared their own number because you asked for it, `other` for any other card.',
    ),
  },
  { description: 'A shared contact card.' },
)

export const InboundOrder = Type.Object(
  {
    catalog_id: nullable(Type.String(), 'The catalog.'),
    text: nullable(Type.String(), 'The note that the contact wrote with the order.'),
    items: Type.Array(
      Type.Object({
        product_retailer_id: Type.String({ description: 'Your ID of the product.' }),
        quantity: nullable(Type.Integer({ minimum: 0 }), 'How many. Null if WhatsApp sent no valid number.'),
        item_price: nullable(Type.Number({ minimum: 0 }), 'The price of one. Null if WhatsApp sent no valid price.'),
        currency: nullable(Type.String(), 'The currency of the price.'),
      }),
      { description: 'The ordered products.' },
    ),
  },
  { description: 'An order from your catalog.' },
)

export const InboundReaction = Type.Object(
  {
    emoji: nullable(Type.String(), 'The emoji. Null if the contact removed the reaction.'),
    wa_message_id: nullable(
      Type.String(),
      "WhatsApp's ID of the message that the contact reacted to. Null only if WhatsApp did not send it.",
    ),
    message_id: nullable(MessageId, 'The ID of that message. Null unless this workspace sent it.'),
  },
  { description: 'A reaction to an earlier message.' },
)

export const InboundReferral = Type.Object(
  {
    source_type: nullable(Type.String(), 'Where the contact came from: `ad` or `post`.'),
    source_id: nullable(Type.String(), "Meta's ID of the ad or the post."),
    source_url: nullable(Type.String(), 'A link to the ad or the post.'),
    headline: nullable(Type.String(), 'The headline of the ad or the post.'),
    body: nullable(Type.String(), 'The text of the ad or the post.'),
    ctwa_clid: nullable(Type.String(), "Meta's click ID, for reporting conversions."),
    media_type: nullable(Type.String(), 'The media of the ad or the post: `image` or `video`.'),
    image_url: nullable(Type.String(), 'The image of the ad or the post.'),
    video_url: nullable(Type.String(), 'The video of the ad or the post.'),
    thumbnail_url: nullable(Type.String(), 'The preview image of the video.'),
    ref: nullable(Type.String(), 'The value that you set in the link of the ad.'),
    welcome_message: nullable(
      Type.Object({ text: nullable(Type.String(), 'The text.') }),
      'The welcome message that the ad showed.',
    ),
  },
  { description: 'The ad or the post that the contact tapped before writing.' },
)

export const Unsupported = Type.Object(
  {
    type: nullable(Type.String(), "WhatsApp's name for the kind of message, such as `poll_creation` or `edit`."),
    code: nullable(Type.Integer(), "WhatsApp's error code."),
    title: nullable(Type.String(), 'What the code means.'),
    content: nullable(
      Type.Record(Type.String(), Type.Unknown()),
      "WhatsApp's own object of that type, as it arrived. Null if it sent none. Its fields are not checked.",
    ),
  },
  { description: "WhatsApp's description of a message that this service has no type for." },
)

export const ReferredProduct = Type.Object(
  {
    catalog_id: nullable(Type.String(), 'The catalog.'),
    product_retailer_id: nullable(Type.String(), 'Your ID of the product.'),
  },
  { description: 'A product of your catalog.' },
)

const changedMessage = {
  wa_message_id: nullable(
    Type.String(),
    "WhatsApp's ID of the changed message. Null only if WhatsApp did not send it.",
  ),
  message_id: nullable(MessageId, 'The ID of that message, sent or received. Null if it is not known.'),
}

export const InboundEdit = Type.Object(
  { ...changedMessage, text: nullable(Type.String(), 'The new text or caption.') },
  { description: 'An edit of an earlier message.' },
)

export const InboundDeletion = Type.Object(changedMessage, { description: 'The deletion of an earlier message.' })

export const InboundMessage = Type.Object(
  {
    message_id: described(MessageId, 'The ID of the message.'),
    wa_message_id: Type.String({ description: "WhatsApp's ID of the message." }),
    from: nullable(Type.String(), "The contact's phone number, digits only. Null if WhatsApp does not provide it."),
    from_user_id: nullable(
      Type.String(),
      "WhatsApp's ID of the contact, unique within your business. Identifies the contact if `from` is null.",
    ),
    from_parent_user_id: nullable(
      Type.String(),
      "WhatsApp's ID of the contact across your business portfolios. Null unless yours are linked.",
    ),
    profile_name: nullable(Type.String(), 'The profile name that the contact chose. It is not verified.'),
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
      "The message that this message replies to. Set if the contact used WhatsApp's reply feature.",
    ),
    reply: nullable(
      Reply,
      'The tapped button or list row. Set for `button`, and for `interactive` except submitted forms.',
    ),
    media: nullable(InboundMedia, 'The file. Set for `image`, `video`, `audio`, `document` and `sticker`.'),
    location: nullable(InboundLocation, 'The location. Set for `location`.'),
    username: nullable(Type.String(), "The contact's username on WhatsApp, without `@`. Null if they have none."),
    group_id: nullable(
      Type.String(),
      'The group that the message was written in. Null for a private message. Do not reply to `from`: the contact wrote to the group.',
    ),
    forwarded: Type.Boolean({ description: 'True if WhatsApp says that the message was forwarded.' }),
    contacts: nullable(Type.Array(InboundContact), 'The shared contact cards. Set for `contacts`.'),
    order: nullable(InboundOrder, 'The order. Set for `order`.'),
    reaction: nullable(InboundReaction, 'The reaction. Its `type` is `unsupported`.'),
    referral: nullable(
      InboundReferral,
      'The ad or the post that the contact tapped before writing. It can come with any type.',
    ),
    referred_product: nullable(ReferredProduct, 'The product that the message asks about.'),
    edit: nullable(InboundEdit, 'The edit of an earlier message. Its `type` is `unsupported`.'),
    deletion: nullable(InboundDeletion, 'The deletion of an earlier message. Its `type` is `unsupported`.'),
    unsupported: nullable(Unsupported, 'Why the type is `unsupported`. Null for a reaction and for all other types.'),
    standby: Type.Boolean({
      default: false,
      description: "True if another app or Meta's agent handles the conversation, and this service only listens.",
    }),
  },
  { description: 'An inbound message. Every field is always present; fields that do not apply are null.' },
)

/** Where the business wrote a message that this service did not send. */
export const echoSources = ['business_app', 'agent', 'other'] as const
export type EchoSource = (typeof echoSources)[number]

const { from: _from, from_user_id: _userId, from_parent_user_id: _parentUserId, ...echoed } = InboundMessage.properties

/** The data of `message.echoed`. */
export const EchoedMessage = Type.Object(
  {
    ...echoed,
    to: nullable(Type.String(), "The recipient's phone number, digits only. Null if WhatsApp does not provide it."),
    to_user_id: nullable(Type.String(), "WhatsApp's ID of the recipient, unique within your business."),
    to_parent_user_id: nullable(
      Type.String(),
      "WhatsApp's ID of the recipient across your business portfolios. Null unless yours are linked.",
    ),
    profile_name: nullable(Type.String(), 'The profile name that the recipient chose. It is not verified.'),
    username: nullable(Type.String(), "The recipient's username on WhatsApp, without `@`. Null if they have none."),
    sender_id: described(SenderId, 'The number that the message was sent from.'),
    source: Type.String({
      description:
        'Where the business wrote it: `business_app` (the WhatsApp Business app), `agent` (an agent of Meta) or `other`. ' +
        'Values may be added.',
    }),
  },
  { description: 'A message that the business sent without this service. The fields are those of an inbound message.' },
)

export type InReplyTo = Static<typeof InReplyTo>
export type Reply = Static<typeof Reply>
export type InboundMedia = Static<typeof InboundMedia>
export type InboundLocation = Static<typeof InboundLocation>
export type InboundContact = Static<typeof InboundContact>
export type InboundOrder = Static<typeof InboundOrder>
export type InboundReaction = Static<typeof InboundReaction>
export type InboundReferral = Static<typeof InboundReferral>
export type Unsupported = Static<typeof Unsupported>
export type ReferredProduct = Static<typeof ReferredProduct>
export type InboundEdit = Static<typeof InboundEdit>
export type InboundDeletion = Static<typeof InboundDeletion>
export type InboundMessage = Static<typeof InboundMessage>
export type EchoedMessage = Static<typeof EchoedMessage>
