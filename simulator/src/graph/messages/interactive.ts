import { arrayIn, isObject, type Json, lengthOf, objectIn, scalarIn, textIn, toText } from '../../json.ts'
import { refuse } from '../../network/errors.ts'
import { type Check, checkMedia } from './check.ts'
import { checkCallButton, checkFlowAction, checkOrder, checkProducts } from './interactive-objects.ts'

/** Interactive messages: a body, an optional header and footer, and an action that depends on the type. */
export function checkInteractive(check: Check, content: unknown): void {
  if (!isObject(content)) return
  const kind = textIn(content, 'type')
  if (!kind) refuse(131008, "Parameter 'type' is mandatory for type 'interactive'")
  const rules = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (!rules) refuse(131009, `Interactive type '${kind}' is not supported`)
  if (rules.bodyMax > 0) checkBody(content, rules.bodyMax, rules.bodyOptional ?? false)
  checkLength(textIn(objectIn(content, 'footer'), 'text'), 1, 60, 'Footer text')
  checkHeader(check, content, rules.headers)
  const action = objectIn(content, 'action')
  if (!action) refuse(131008, "Parameter 'action' is mandatory for type 'interactive'")
  rules.action(check, action)
}

interface Rules {
  bodyMax: number
  bodyOptional?: boolean
  headers: string[]
  action: (check: Check, action: Json) => void
}

const anyHeader = ['text', 'image', 'video', 'document']

const kinds: Record<string, Rules> = {
  button: { bodyMax: 1024, headers: anyHeader, action: (_check, action) => checkButtons(action) },
  list: { bodyMax: 4096, headers: ['text'], action: (_check, action) => checkList(action) },
  cta_url: { bodyMax: 1024, headers: anyHeader, action: (_check, action) => checkCtaUrl(action) },
  flow: { bodyMax: 1024, headers: anyHeader, action: checkFlowAction },
  location_request_message: { bodyMax: 1024, headers: [], action: named('send_location') },
  contact_request: { bodyMax: 1024, headers: [], action: named('request_contact_info') },
  request_contact_info: { bodyMax: 1024, headers: [], action: named('request_contact_info') },
  call_permission_request: {
    bodyMax: 1024,
    bodyOptional: true,
    headers: [],
    action: named('call_permission_request'),
  },
  address_message: { bodyMax: 1024, headers: [], action: checkAddress },
  voice_call: { bodyMax: 1024, headers: anyHeader, action: checkCallButton },
  order_details: { bodyMax: 1024, headers: anyHeader, action: checkOrder('review_and_pay') },
  order_status: { bodyMax: 1024, headers: [], action: checkOrder('review_order') },
  product: { bodyMax: 1024, bodyOptional: true, headers: [], action: checkProducts },
  product_list: { bodyMax: 1024, headers: ['text'], action: checkProducts },
  catalog_message: { bodyMax: 1024, headers: [], action: named('catalog_message') },
  carousel: { bodyMax: 1024, headers: [], action: checkCards },
}

function checkBody(content: Json, max: number, optional: boolean): void {
  const text = textIn(objectIn(content, 'body'), 'text')
  if (text === undefined && !optional) refuse(131008, "Parameter 'body' is mandatory for type 'interactive'")
  checkLength(text, 1, max, 'Body text')
}

function checkHeader(check: Check, content: Json, allowed: string[]): void {
  const header = objectIn(content, 'header')
  if (!header) return
  const kind = textIn(header, 'type') ?? ''
  if (!allowed.includes(kind))
    refuse(131009, `Header type '${kind}' is not supported for interactive type '${toText(content.type)}'`)
  if (kind === 'text') {
    if (!textIn(header, 'text')) refuse(131008, "Parameter 'text' is mandatory for header type 'text'")
    checkLength(textIn(header, 'text'), 1, 60, 'Header text')
  } else checkMedia(check, kind as 'image' | 'video' | 'document', header[kind], `interactive['header']['${kind}']`)
}

function checkButtons(action: Json): void {
  const buttons = arrayIn(action, 'buttons') ?? []
  if (buttons.length < 1 || buttons.length > 3)
    refuse(131009, 'Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: 3')
  for (const button of buttons) {
    const reply = objectIn(button, 'reply')
    if (!reply) refuse(131009, "Buttons must be of type 'reply'")
    checkLength(textIn(reply, 'title') ?? '', 1, 20, 'Button title')
    checkLength(scalarIn(reply, 'id') ?? '', 1, 256, 'Button id')
  }
  checkUnique(
    buttons.map((button) => scalarIn(objectIn(button, 'reply'), 'id')),
    'Button id',
  )
  checkUnique(
    buttons.map((button) => textIn(objectIn(button, 'reply'), 'title')),
    'Button title',
  )
}

function checkList(action: Json): void {
  checkLength(textIn(action, 'button') ?? '', 1, 20, 'Button label')
  const sections = arrayIn(action, 'sections') ?? []
  if (sections.length < 1 || sections.length > 10)
    refuse(131009, 'Invalid sections count. Min allowed sections: 1, Max allowed sections: 10')
  const rows = sections.flatMap((section) => arrayIn(section, 'rows') ?? [])
  if (rows.length < 1) refuse(131009, 'A list needs at least one row')
  if (rows.length > 10) refuse(131009, 'Total row count exceed max allowed count: 10')
  for (const section of sections) {
    const title = textIn(section, 'title')
    if (sections.length > 1 && !title) refuse(131009, 'Section title is required when there is more than one section')
    checkLength(title || undefined, 1, 24, 'Section title')
  }
  for (const row of rows) {
    checkLength(scalarIn(row, 'id') ?? '', 1, 200, 'Row id')
    checkLength(textIn(row, 'title') ?? '', 1, 24, 'Row title')
    checkLength(textIn(row, 'description') || undefined, 1, 72, 'Row description')
  }
  checkUnique(
    rows.map((row) => scalarIn(row, 'id')),
    'Row id',
  )
}

function checkCtaUrl(action: Json): void {
  const parameters = objectIn(action, 'parameters')
  checkLength(textIn(parameters, 'display_text') ?? '', 1, 20, 'Button display_text')
  const url = textIn(parameters, 'url') ?? ''
  if (!URL.canParse(url) || !/^https?:/i.test(url)) refuse(131009, 'Button url is not a valid URL')
}

function checkCards(check: Check, action: Json): void {
  const cards = arrayIn(action, 'cards') ?? []
  if (cards.length < 2 || cards.length > 10)
    refuse(131009, 'Invalid cards count. Min allowed cards: 2, Max allowed cards: 10')
  const buttons = cards.map((card) => checkCard(check, card))
  if (new Set(buttons).size > 1)
    refuse(131009, 'Card types, button types and button counts must match across all cards')
  checkUnique(
    cards.map((card) => scalarIn(card, 'card_index')),
    'card_index',
  )
}

/** Returns the type of the card and its buttons. */
function checkCard(check: Check, card: unknown): string {
  const action = objectIn(card, 'action')
  if (!isObject(card) || !action) return refuse(131009, "Every card needs an 'action'")
  if (!/^[0-9]$/.test(scalarIn(card, 'card_index') ?? '')) refuse(131009, 'card_index must be from 0 to 9')
  const type = textIn(card, 'type')
  if (type === 'product') {
    checkProducts(check, action)
    return type
  }
  if (type !== 'cta_url') refuse(131009, "Card type must be 'cta_url' or 'product'")
  if (!objectIn(card, 'header')) refuse(131008, "Parameter 'header' is mandatory for a card")
  checkHeader(check, card, ['image', 'video'])
  const body = textIn(objectIn(card, 'body'), 'text')
  checkLength(body, 1, 160, 'Card body text')
  if ((body ?? '').split('\n').length > 3) refuse(131009, 'Card body text has more than 2 line breaks')
  const replies = arrayIn(action, 'buttons')
  if (!replies) {
    named('cta_url')(check, action)
    checkCtaUrl(action)
    return type
  }
  if (replies.length < 1 || replies.length > 3) refuse(131009, 'A card has 1 to 3 quick-reply buttons')
  for (const button of replies) {
    const reply = objectIn(button, 'quick_reply')
    checkLength(textIn(reply, 'title') ?? '', 1, 20, 'Button title')
    checkLength(scalarIn(reply, 'id') ?? '', 1, 256, 'Button id')
  }
  return `${type} with ${replies.length} replies`
}

/** Address messages exist in India and Singapore. */
function checkAddress(check: Check, action: Json): void {
  named('address_message')(check, action)
  const country = textIn(objectIn(action, 'parameters'), 'country')
  if (!country) refuse(131008, "Parameter 'country' is mandatory for interactive type 'address_message'")
  if (country !== 'IN' && country !== 'SG') refuse(131009, `Address messages are not supported in country '${country}'`)
}

function named(name: string) {
  return (_check: Check, action: Json) => {
    if (textIn(action, 'name') !== name) refuse(131009, `Action name must be '${name}'`)
  }
}

function checkLength(text: string | undefined, min: number, max: number, what: string): void {
  if (text === undefined) return
  const length = lengthOf(text)
  if (length < min || length > max) refuse(131009, `${what} length invalid. Min length: ${min}, Max length: ${max}`)
}

function checkUnique(values: (string | undefined)[], what: string): void {
  if (new Set(values).size !== values.length) refuse(131009, `${what} must be unique within the message`)
}
