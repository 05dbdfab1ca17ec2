import { isObject, type Json, objectIn, textIn } from '../json.ts'
import type { Network } from '../network.ts'
import type { Message } from '../world.ts'
import type { PhoneActionName } from './actions.ts'
import { redactFilename, redactText, redactValue } from './redact.ts'

interface RecordedAction {
  action: PhoneActionName
  /** `message` and `replyTo` are IDs of the network. */
  input: Json
}

/** Turns messages of the person, in their order, back into the actions that sent them. */
export function newRecordedActions(network: Network, chat: readonly Message[], withContents: boolean) {
  const words = (text: string) => (withContents ? text : redactText(text))
  const value = (one: unknown) => (withContents ? one : redactValue(one))
  const textOf = (content: unknown, key: string, as = key): Json => {
    const text = textIn(content, key)
    return text === undefined || text === '' ? {} : { [as]: words(text) }
  }
  const fileOf = (file: unknown, nameKey: string): Json => {
    const name = textIn(file, nameKey)
    const bytes = withContents ? network.media.get(textIn(file, 'id') ?? '') : undefined
    return withoutUndefined({
      mimeType: textIn(file, 'mime_type'),
      filename: name === undefined || withContents ? name : redactFilename(name),
      base64: bytes?.toString('base64'),
    })
  }

  /** The message as it was sent, before it was edited. */
  const sentContent = ({ content, edits }: Message): unknown => (edits?.[0] ? edits[0].content : content)

  const edits = new Map<string, number>()
  const amendment = (message: Message, amends: string): RecordedAction => {
    const isEdit = message.type === 'edit' || textIn(message.content, 'type') === 'edit'
    if (!isEdit) return { action: 'delete', input: { message: amends } }
    const nth = (edits.get(amends) ?? 0) + 1
    edits.set(amends, nth)
    const original = chat.find(({ id }) => id === amends)
    const after = original?.edits?.[nth]?.content ?? original?.content
    const text = words(textIn(after, 'body') ?? textIn(after, 'caption') ?? '')
    return { action: 'edit', input: { message: amends, text } }
  }

  const formOf = (about: Json, json: string): RecordedAction => {
    const response = parsed(json)
    if (!response) return { action: 'fillForm', input: { ...about, responseJson: words(json) } }
    const { flow_token: token, ...fields } = response
    const entries = Object.entries(fields)
    const files = entries.flatMap(([name, one]) => (isFileList(one) ? [[name, one] as const] : []))
    const isEncrypted = files.some(([, list]) => list.some((one) => one.encryption_metadata !== undefined))
    const input = {
      ...about,
      values: Object.fromEntries(
        entries.filter(([, one]) => !isFileList(one)).map(([name, one]) => [name, value(one)]),
      ),
      ...(files.length > 0 && {
        files: Object.fromEntries(files.map(([name, list]) => [name, list.map((one) => fileOf(one, 'file_name'))])),
      }),
      ...(isEncrypted && { encrypted: true }),
      ...(token === undefined && { omitFlowToken: true }),
    }
    return { action: 'fillForm', input }
  }

  const reply = (about: Json, content: unknown): RecordedAction | undefined => {
    const chosen = objectIn(content, 'button_reply') ?? objectIn(content, 'list_reply')
    // The ID, which a bot reads. The label may be a word of the person.
    if (chosen) return { action: 'tap', input: { ...about, button: textIn(chosen, 'id') ?? '' } }
    const form = objectIn(content, 'nfm_reply')
    if (form) return formOf(about, textIn(form, 'response_json') ?? '')
    const permission = objectIn(content, 'call_permission_reply')
    if (!permission) return undefined
    const automatic = permission.response_source === 'automatic' ? { automatic: true } : {}
    return { action: 'callPermission', input: { ...about, response: permission.response, ...automatic } }
  }

  const location = (content: unknown): Json => {
    const { latitude, longitude } = isObject(content) ? content : {}
    const place = { ...textOf(content, 'name'), ...textOf(content, 'address'), ...textOf(content, 'url') }
    return { latitude: withContents ? latitude : 0, longitude: withContents ? longitude : 0, ...place }
  }

  return (message: Message): RecordedAction => {
    if (message.amends !== undefined) return amendment(message, message.amends)
    const content = sentContent(message)
    const { type, contextId } = message
    const about: Json = contextId === null ? {} : { message: contextId }
    const context: Json = contextId === null ? {} : { replyTo: contextId }
    switch (type) {
      case 'text':
        return { action: 'say', input: { ...context, ...textOf(content, 'body', 'text') } }
      case 'image':
      case 'video':
      case 'audio':
      case 'document':
      case 'sticker': {
        const { voice, animated } = isObject(content) ? content : {}
        const file = { ...fileOf(content, 'filename'), ...textOf(content, 'caption') }
        const input = { ...context, ...file, ...(animated === true ? { animated } : {}) }
        return { action: voice === true ? 'voice' : type, input }
      }
      case 'location':
        return { action: 'location', input: { ...context, ...location(content) } }
      case 'contacts': {
        const shared = (Array.isArray(content) ? content : []) as Json[]
        if (shared[0]?.origin === 'contact_request') return { action: 'sharePhone', input: about }
        const contacts = shared.map(({ origin: _, ...contact }) => value(contact))
        return { action: 'contacts', input: { ...context, contacts } }
      }
      case 'order':
        return { action: 'order', input: { ...context, ...orderOf(content, withContents), ...textOf(content, 'text') } }
      case 'reaction': {
        const emoji = textIn(content, 'emoji')
        const target = { message: textIn(content, 'message_id') }
        if (emoji) return { action: 'react', input: { ...target, emoji } }
        return { action: 'unreact', input: { ...target, ...(emoji === '' ? { emptyEmoji: true } : {}) } }
      }
      case 'button':
        return { action: 'tap', input: { ...about, button: textIn(content, 'payload') ?? '' } }
      case 'request_welcome':
        return { action: 'welcome', input: {} }
      case 'unsupported':
        return { action: 'unsupported', input: { kind: textIn(content, 'type') ?? 'unknown' } }
      default:
        return reply(about, content) ?? { action: 'invent', input: { type, content: value(content) } }
    }
  }
}

function orderOf(content: unknown, withContents: boolean): Json {
  const { catalog_id: catalogId, product_items: products } = isObject(content) ? content : {}
  const items = (Array.isArray(products) ? products : []).map((item) => ({
    retailerId: item.product_retailer_id,
    quantity: withContents ? item.quantity : 1,
    price: withContents ? item.item_price : 0,
    currency: item.currency,
  }))
  return { catalogId, items }
}

const isFileList = (one: unknown): one is Json[] =>
  Array.isArray(one) &&
  one.length > 0 &&
  one.every((file) => isObject(file) && 'file_name' in file && ('id' in file || 'encryption_metadata' in file))

function parsed(json: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const withoutUndefined = (input: Json): Json =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
