import type {
  InboundContact,
  InboundDeletion,
  InboundEdit,
  InboundLocation,
  InboundMedia,
  InboundReaction,
  InboundType,
  Reply,
} from '@parley/contract/inbound'
import { sha256Hex } from '../graph/sha256.ts'
import type { MediaKind } from '../media-kinds.ts'
import { type JsonObject, readId, readNonBlank, readNumber, readObject, readText } from '../read-json.ts'
import { readContacts } from './contacts.ts'
import { type FormSubmission, readForm } from './form.ts'
import { type Order, readOrder } from './order.ts'

/** The content of a message. `reply`, `media`, `location` and `contacts` have the format of the event. */
export interface Content {
  type: InboundType
  text: string | null
  reply: Reply | null
  media: MediaFile | null
  mediaSource: MediaSource | null
  location: InboundLocation | null
  contacts: InboundContact[] | null
  reaction: Pick<InboundReaction, 'emoji' | 'wa_message_id'> | null
  edit: Omit<InboundEdit, 'message_id'> | null
  deletion: Omit<InboundDeletion, 'message_id'> | null
  form: FormSubmission | null
  order: Order | null
}

/** The file as WhatsApp describes it. This service adds the URL. */
export type MediaFile = Omit<InboundMedia, 'url'>

/** What an export of a person has about the file, as WhatsApp sent it. The hash is base64, or hex in old payloads. */
interface MediaSource {
  sha256: string | null
  url: string | null
  voice: boolean
  animated: boolean
}

const longText = 65_536

const members = [
  'text',
  'image',
  'video',
  'document',
  'audio',
  'voice',
  'sticker',
  'location',
  'contacts',
  'button',
  'interactive',
  'order',
  'reaction',
  'unsupported',
  'system',
  'edit',
  'revoke',
]

/** The type of a message. WhatsApp sometimes leaves it out; then the only content member says what it is. */
export function readType(message: JsonObject): string | null {
  const type = readId(message.type, 64)
  if (type !== null) return type
  const present = members.filter((name) => typeof message[name] === 'object' && message[name] !== null)
  return present.length === 1 ? (present[0] ?? null) : null
}

/** A message whose content is missing or invalid is `unsupported`, whatever its type. */
export function readContent(message: JsonObject, type: string | null): Content {
  return { ...emptyContent, ...contentOf(message, type) }
}

/** The network's ID of the message that an edit or a deletion is about. Null for all other messages. */
export const changedMessageOf = ({ edit, deletion }: Pick<Content, 'edit' | 'deletion'>): string | null =>
  (edit ?? deletion)?.wa_message_id ?? null

const emptyContent: Content = {
  type: 'unsupported',
  text: null,
  reply: null,
  media: null,
  mediaSource: null,
  location: null,
  contacts: null,
  reaction: null,
  edit: null,
  deletion: null,
  form: null,
  order: null,
}

function contentOf(message: JsonObject, type: string | null): Partial<Content> {
  switch (type) {
    case 'text': {
      const text = readText(readObject(message.text)?.body, longText)
      return text === null ? {} : { type, text }
    }
    case 'image':
    case 'video':
    case 'document':
    case 'audio':
    case 'sticker':
      return mediaContent(type, readObject(message[type]))
    case 'voice':
      return mediaContent('audio', voiceIn(message))
    case 'location': {
      const location = readLocation(readObject(message.location))
      return location === null ? {} : { type, location }
    }
    case 'contacts':
      return Array.isArray(message.contacts) ? { type, contacts: readContacts(message.contacts) } : {}
    case 'reaction':
      return { reaction: readReaction(readObject(message.reaction)) }
    case 'edit':
      return { edit: readEdit(readObject(message.edit)) }
    case 'revoke': {
      const revoke = readObject(message.revoke)
      return { deletion: revoke && { wa_message_id: readId(revoke.original_message_id) } }
    }
    case 'button':
      return buttonContent(readObject(message.button))
    case 'interactive':
      return interactiveContent(readObject(message.interactive))
    case 'order': {
      const order = readOrder(readObject(message.order))
      return order === null ? {} : { type, order }
    }
    default:
      return {}
  }
}

/** In old webhooks, a voice message has its own type. In others, it is an `audio` with `voice`. */
function voiceIn(message: JsonObject): JsonObject | null {
  const file = readObject(message.voice) ?? readObject(message.audio)
  return file && { ...file, voice: true }
}

function mediaContent(type: MediaKind, file: JsonObject | null) {
  const id = readId(file?.id)
  if (file === null || id === null) return {}
  const hasCaption = type === 'image' || type === 'video' || type === 'document'
  const caption = hasCaption ? readNonBlank(file.caption, longText) : null
  const media: MediaFile = {
    id,
    mime_type: readNonBlank(file.mime_type, 256) ?? 'application/octet-stream',
    filename: type === 'document' ? readNonBlank(file.filename, 1024) : null,
    caption,
    sha256: sha256Hex(readId(file.sha256, 128)),
    voice: file.voice === true,
  }
  const mediaSource: MediaSource = {
    sha256: readId(file.sha256, 128),
    url: readId(file.url, 4096),
    voice: file.voice === true,
    animated: file.animated === true,
  }
  return { type, text: caption, media, mediaSource }
}

/** The emoji is missing or empty if the reaction was removed. */
function readReaction(reaction: JsonObject | null): Content['reaction'] {
  return reaction && { emoji: readNonBlank(reaction.emoji, 64), wa_message_id: readId(reaction.message_id) }
}

/** The new text is that of the edited message, or the caption of its file. */
function readEdit(edit: JsonObject | null): Content['edit'] {
  if (edit === null) return null
  const message = readObject(edit.message)
  const type = message && readType(message)
  const text = message === null || type === 'edit' ? null : readContent(message, type).text
  return { wa_message_id: readId(edit.original_message_id), text }
}

function readLocation(place: JsonObject | null): InboundLocation | null {
  const latitude = readNumber(place?.latitude)
  const longitude = readNumber(place?.longitude)
  if (place === null || latitude === null || longitude === null) return null
  return {
    latitude,
    longitude,
    name: readNonBlank(place.name, 1024),
    address: readNonBlank(place.address, 2048),
    url: readNonBlank(place.url, 4096),
  }
}

/** A tapped template button. Its ID is the payload, or the label if it has no payload. */
function buttonContent(button: JsonObject | null): Partial<Content> {
  const label = readNonBlank(button?.text, longText)
  const payload = readNonBlank(button?.payload, longText)
  const id = payload ?? label
  const title = label ?? payload
  return id === null || title === null ? {} : { type: 'button', text: title, reply: { id, title, description: null } }
}

function interactiveContent(interactive: JsonObject | null): Partial<Content> {
  if (interactive === null) return {}
  if (interactive.type === 'nfm_reply') {
    const form = readForm(readObject(interactive.nfm_reply))
    return form === null ? {} : { type: 'interactive', form }
  }
  if (interactive.type !== 'button_reply' && interactive.type !== 'list_reply') return {}
  const tapped = readObject(interactive[interactive.type])
  const id = readNonBlank(tapped?.id, longText)
  if (id === null) return {}
  const title = readNonBlank(tapped?.title, longText) ?? id
  const description = readNonBlank(tapped?.description, longText)
  return { type: 'interactive', text: title, reply: { id, title, description } }
}
