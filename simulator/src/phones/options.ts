import { arrayIn, isObject, objectIn, scalarIn, textIn } from '../json.ts'
import { findTemplate, type Message, type PhoneNumber, type World } from '../world.ts'

/** A button or list row that sends a reply when tapped. */
export type Option =
  | { kind: 'button'; payload: string; text: string }
  | { kind: 'button_reply'; id: string; title: string }
  | { kind: 'list_reply'; id: string; title: string; description: string | undefined }

export function optionsOf(world: World, number: PhoneNumber, message: Message): Option[] {
  if (message.direction !== 'out') return []
  if (message.type === 'template') return templateOptions(world, number, message.content)
  return message.type === 'interactive' ? interactiveOptions(message.content) : []
}

/** Finds an option by its label, its ID or payload, or its index. */
export function chooseOption(options: Option[], choice: string | number): Option | undefined {
  if (typeof choice === 'number') return options[choice]
  const key = (option: Option) => (option.kind === 'button' ? option.payload : option.id)
  const label = (option: Option) => (option.kind === 'button' ? option.text : option.title)
  return options.find((option) => label(option) === choice) ?? options.find((option) => key(option) === choice)
}

function interactiveOptions(content: unknown): Option[] {
  const action = objectIn(content, 'action')
  const cards = (arrayIn(action, 'cards') ?? []).flatMap((card) => arrayIn(objectIn(card, 'action'), 'buttons') ?? [])
  const buttons = [...(arrayIn(action, 'buttons') ?? []), ...cards].map((button): Option => {
    const reply = objectIn(button, 'reply') ?? objectIn(button, 'quick_reply')
    return { kind: 'button_reply', id: scalarIn(reply, 'id') ?? '', title: textIn(reply, 'title') ?? '' }
  })
  const rows = (arrayIn(action, 'sections') ?? []).flatMap((section) => arrayIn(section, 'rows') ?? [])
  return [
    ...buttons,
    ...rows.map(
      (row): Option => ({
        kind: 'list_reply',
        id: scalarIn(row, 'id') ?? '',
        title: textIn(row, 'title') ?? '',
        description: textIn(row, 'description'),
      }),
    ),
  ]
}

/** Quick replies are defined in the template. The payload is the one in the message, else the button text. */
function templateOptions(world: World, number: PhoneNumber, content: unknown): Option[] {
  const language = textIn(objectIn(content, 'language'), 'code') ?? ''
  const template = findTemplate(world, number.wabaId, textIn(content, 'name') ?? '', language)
  return template ? quickReplies(template.components, arrayIn(content, 'components') ?? []) : []
}

function quickReplies(defined: unknown[], sent: unknown[]): Option[] {
  const buttons = arrayIn(componentOf(defined, 'BUTTONS'), 'buttons') ?? []
  const replies = buttons.flatMap((button, index): Option[] => {
    if (textIn(button, 'type') !== 'QUICK_REPLY') return []
    const text = textIn(button, 'text') ?? ''
    return [{ kind: 'button', text, payload: payloadOf(sent, index) ?? text }]
  })
  const cards = arrayIn(componentOf(defined, 'CAROUSEL'), 'cards') ?? []
  const sentCards = arrayIn(componentOf(sent, 'CAROUSEL'), 'cards') ?? []
  return [
    ...replies,
    ...cards.flatMap((card, index) => {
      const match = sentCards.find((one) => scalarIn(one, 'card_index') === String(index))
      return quickReplies(arrayIn(card, 'components') ?? [], arrayIn(match, 'components') ?? [])
    }),
  ]
}

function payloadOf(sent: unknown[], index: number): string | undefined {
  const component = sent.find(
    (one) =>
      isObject(one) && textIn(one, 'type')?.toUpperCase() === 'BUTTON' && scalarIn(one, 'index') === String(index),
  )
  return textIn(arrayIn(component, 'parameters')?.[0], 'payload')
}

export function componentOf(components: unknown[], type: string): unknown {
  return components.find((component) => textIn(component, 'type')?.toUpperCase() === type)
}
