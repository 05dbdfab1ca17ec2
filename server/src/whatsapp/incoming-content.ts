import type { InboundLocation, InboundMedia, InboundType, Reply } from '@parley/contract/inbound'
import { type FormSubmission, readForm } from './incoming-form.ts'
import { type Order, readOrder } from './incoming-order.ts'
import { type JsonObject, readId, readNumber, readObject, readText, readWords } from './read-json.ts'

/** What a message says. `reply`, `media` and `location` are as the event shows them. */
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

/** What fetching the file needs and no event shows. The hash is as the network wrote it: base64, or hex in old payloads. */
export interface MediaSource {
  sha256: string | null
  url: string | null
  voice: boolean
  animated: boolean
}

const longText = 65_536

/** A message whose content is missing or unreadable is `unsupported`, whatever it calls itself. */
export function readContent(message: JsonObject, type: string | null): Content {
  return { ...nothing, ...contentOf(message, type) }
}

const nothing: Content = {
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
  const captioned = type === 'image' || type === 'video' || type === 'document'
  const caption = captioned ? readWords(file.caption, longText) : null
  const media: InboundMedia = {
    id,
    mime_type: readWords(file.mime_type, 256) ?? 'application/octet-stream',
    filename: type === 'document' ? readWords(file.filename, 1024) : null,
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
    name: readWords(place.name, 1024),
    address: readWords(place.address, 2048),
    url: readWords(place.url, 4096),
  }
}

/** The button of a template. Without a payload of its own the button answers with its label. */
function buttonContent(button: JsonObject | null): Partial<Content> {
  const label = readWords(button?.text, longText)
  const payload = readWords(button?.payload, longText)
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
  const id = readWords(tapped?.id, longText)
  if (id === null) return {}
  const title = readWords(tapped?.title, longText) ?? id
  return { type: 'interactive', text: title, reply: { id, title } }
}
