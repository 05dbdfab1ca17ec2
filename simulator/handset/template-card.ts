import { type Card, type CardButton, emptyCard, type Header } from './card.ts'
import { type Json, listAt, objectAt, textAt } from './json.ts'
import { state } from './state.ts'

/** A template as the phone shows it, with the variables of the message filled in. */
export function templateCard(content: unknown): Card | undefined {
  const language = textAt(content, 'language', 'code')
  const template = state.templates.find((one) => one.name === textAt(content, 'name') && one.language === language)
  if (!template) return undefined
  let replies = 0
  return cardOf(template.components, listAt(content, 'components'), () => replies++)
}

/** The position of a quick reply counts all quick replies of the message, including those of carousel cards. */
function cardOf(defined: unknown[], sent: unknown[], nextPosition: () => number): Card {
  const card = emptyCard()
  const header = part(defined, 'HEADER')
  if (header) card.header = headerOf(header, part(sent, 'HEADER'))
  card.body = filled(textAt(part(defined, 'BODY'), 'text'), part(sent, 'BODY'))
  card.footer = textAt(part(defined, 'FOOTER'), 'text')
  card.buttons = listAt(part(defined, 'BUTTONS'), 'buttons').map((button, index) =>
    buttonOf(button, buttonParameter(sent, index), nextPosition),
  )
  const sentCards = listAt(part(sent, 'CAROUSEL'), 'cards')
  card.cards = listAt(part(defined, 'CAROUSEL'), 'cards').map((one, index) => {
    const match = sentCards.find((sentCard) => textAt(sentCard, 'card_index') === String(index))
    return cardOf(listAt(one, 'components'), listAt(match, 'components'), nextPosition)
  })
  return card
}

function headerOf(defined: unknown, sent: unknown): Header {
  const parameter = listAt(sent, 'parameters')[0]
  switch (textAt(defined, 'format').toUpperCase()) {
    case 'IMAGE':
      return { kind: 'image', file: objectAt(parameter, 'image') }
    case 'VIDEO':
      return { kind: 'video', file: objectAt(parameter, 'video') }
    case 'DOCUMENT':
      return { kind: 'document', file: objectAt(parameter, 'document') }
    case 'LOCATION':
      return { kind: 'location', place: objectAt(parameter, 'location') }
    default:
      return { kind: 'text', text: filled(textAt(defined, 'text'), sent) }
  }
}

function buttonOf(button: unknown, parameter: unknown, nextPosition: () => number): CardButton {
  const label = textAt(button, 'text')
  const url = textAt(button, 'url')
  switch (textAt(button, 'type').toUpperCase()) {
    case 'QUICK_REPLY':
      return { kind: 'reply', label, position: nextPosition() }
    case 'URL':
      // A one-time code button is defined as a URL, but the phone copies the code instead of opening it.
      if (url.includes('otp_type=')) return { kind: 'copy', label, code: textAt(parameter, 'text') }
      return { kind: 'url', label, url: url.replace(/\{\{\w+\}\}/, () => textAt(parameter, 'text')) }
    case 'OTP':
      return { kind: 'copy', label, code: textAt(parameter, 'text') }
    case 'COPY_CODE':
      return { kind: 'copy', label, code: textAt(parameter, 'coupon_code') || textAt(button, 'example', 0) }
    case 'PHONE_NUMBER':
      return { kind: 'call', label, number: textAt(button, 'phone_number') }
    case 'FLOW':
      return {
        kind: 'form',
        label,
        flow: textAt(button, 'flow_id') || textAt(button, 'flow_name'),
        screen: textAt(button, 'navigate_screen'),
        data: objectAt(parameter, 'action', 'flow_action_data'),
      }
    case 'CATALOG':
    case 'MPM':
    case 'SPM':
      return { kind: 'products', label: label || 'View catalog', skus: [] }
    default:
      return { kind: 'disabled', label }
  }
}

function buttonParameter(sent: unknown[], index: number): unknown {
  const match = sent.find(
    (one) => textAt(one, 'type').toUpperCase() === 'BUTTON' && textAt(one, 'index') === String(index),
  )
  return listAt(match, 'parameters')[0]
}

function filled(text: string, sent: unknown): string {
  const parameters = listAt(sent, 'parameters') as Json[]
  return text.replaceAll(/\{\{(\w+)\}\}/g, (match, key: string) => {
    const named = parameters.find((one) => textAt(one, 'parameter_name') === key)
    const parameter = named ?? (/^\d+$/.test(key) ? parameters[Number(key) - 1] : undefined)
    return parameter ? parameterText(parameter) : match
  })
}

const parameterText = (parameter: Json): string =>
  textAt(parameter, 'text') ||
  textAt(parameter, 'currency', 'fallback_value') ||
  textAt(parameter, 'date_time', 'fallback_value')

const part = (components: unknown[], type: string): unknown =>
  components.find((component) => textAt(component, 'type').toUpperCase() === type)
