import { arrayIn, isObject, objectIn, textIn } from '../../json.ts'
import { refuse } from '../../network/errors.ts'
import { type Check, checkCoordinates, checkMedia, needText, optionalText } from './check.ts'
import { checkInteractive } from './interactive.ts'
import { checkTemplate } from './template.ts'

/** The message types that can be sent, with their checks. */
export const contentChecks: Record<string, (check: Check, content: unknown) => void> = {
  text: (_check, text) => void needText(text, 'body', 'text', 4096),
  image(check, image) {
    checkMedia(check, 'image', image, 'image')
    optionalText(image, 'caption', 'image', 1024)
  },
  video(check, video) {
    checkMedia(check, 'video', video, 'video')
    optionalText(video, 'caption', 'video', 1024)
  },
  audio(check, audio) {
    checkMedia(check, 'audio', audio, 'audio')
    if (textIn(audio, 'caption') !== undefined) refuse(100, "audio: 'caption' is not supported")
  },
  document(check, document) {
    checkMedia(check, 'document', document, 'document')
    optionalText(document, 'caption', 'document', 1024)
    optionalText(document, 'filename', 'document', 240)
  },
  sticker: (check, sticker) => checkMedia(check, 'sticker', sticker, 'sticker'),
  location(_check, location) {
    if (isObject(location)) checkCoordinates(location, 'location')
  },
  contacts: (_check, contacts) => checkContacts(contacts),
  reaction: checkReaction,
  interactive: checkInteractive,
  template: checkTemplate,
}

/** Types that exist on WhatsApp but that a business cannot send. */
export const unsendableTypes = ['button', 'order', 'system', 'unsupported', 'poll', 'hsm', 'edit', 'revoke', 'unknown']

function checkContacts(contacts: unknown): void {
  if (!Array.isArray(contacts) || contacts.length === 0)
    refuse(131008, "Parameter 'contacts' is mandatory for type 'contacts'")
  if (contacts.length > 257) refuse(131009, 'contacts: at most 257 contacts can be sent at once')
  for (const [index, contact] of contacts.entries()) {
    const name = objectIn(contact, 'name')
    if (!name) refuse(131008, `contacts[${index}]: 'name' is mandatory`)
    needText(name, 'formatted_name', `contacts[${index}]['name']`, 1024)
    const parts = ['first_name', 'last_name', 'middle_name', 'suffix', 'prefix']
    if (!parts.some((part) => textIn(name, part)))
      refuse(131009, `contacts[${index}]: 'name' needs at least one part besides 'formatted_name'`)
    for (const phone of arrayIn(contact, 'phones') ?? [])
      if (!isObject(phone)) refuse(131009, `contacts[${index}]: 'phones' is not a list of objects`)
  }
}

function checkReaction(check: Check, reaction: unknown): void {
  const messageId = needText(reaction, 'message_id', 'reaction', 256)
  const emoji = isObject(reaction) ? reaction.emoji : undefined
  if (typeof emoji !== 'string') refuse(131008, "Parameter 'emoji' is mandatory for type 'reaction'")
  if (emoji !== '' && !isOneEmoji(emoji)) refuse(131009, 'reaction: emoji is not a single emoji')
  if (!check.world.messages.has(messageId)) check.failsWith ??= 131009
}

function isOneEmoji(text: string): boolean {
  const graphemes = [...new Intl.Segmenter().segment(text)]
  return graphemes.length === 1 && /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(text)
}
