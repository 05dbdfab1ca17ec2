import type { InboundLocation, InboundMedia, InboundType, Reply } from '@parley/contract/inbound'
import { type FormSubmission, readForm } from './incoming-form.ts'
import { type Order, readOrder } from './incoming-order.ts'
import { type JsonObject, readId, readNonBlank, readNumber, readObject, readText } from './read-json.ts'

/** The content of a message. `reply`, `media` and `location` have the format of the event. */
export interface Content {
  type: InboundType
  text: string | null
  reply: Reply | null
  media: InboundMedia | null
  mediaSource: MediaSource | null
  location: InboundLocation | null
  form: FormSubmission | null
  order: Order | null
}

/**
 * Data for downloading the file that is not in the event. The hash is in WhatsApp's format: base64, or hex in old
 * payloads.
 */
export interface MediaSource {
  sha256: string | null
  url: string | null
  voice: boolean
  animated: boolean
}

const longText = 65_536

/** A message whose content is missing or invalid is `unsupported`, whatever its type. */
export function readContent(message: JsonObject, type: string | null): Content {
  return { ...emptyContent, ...contentOf(message, type) }
}

const emptyContent: Content = {
  type: 'unsupported',
  text: null,
  reply: null,
  media: null,
  mediaSource: null,
  location: null,
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
      return mediaContent('audio', readObject(message.voice) ?? readObject(message.audio))
    case 'location': {
      const location = readLocation(readObject(message.location))
      return location === null ? {} : { type, location }
    }
    case 'contacts':
      return Array.isArray(message.contacts) ? { type } : {}
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

function mediaContent(type: 'image' | 'video' | 'document' | 'audio' | 'sticker', file: JsonObject | null) {
  const id = readId(file?.id)
  if (file === null || id === null) return {}
  const hasCaption = type === 'image' || type === 'video' || type === 'document'
  const caption = hasCaption ? readNonBlank(file.caption, longText) : null
  const media: InboundMedia = {
    id,
    mime_type: readNonBlank(file.mime_type, 256) ?? 'application/octet-stream',
    filename: type === 'document' ? readNonBlank(file.filename, 1024) : null,
    caption,
  }
  const mediaSource: MediaSource = {
    sha256: readId(file.sha256, 128),
    url: readId(file.url, 4096),
    voice: file.voice === true,
    animated: file.animated === true,
  }
  return { type, text: caption, media, mediaSource }
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
  return id === null || title === null ? {} : { type: 'button', text: title, reply: { id, title } }
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
  return { type: 'interactive', text: title, reply: { id, title } }
}
