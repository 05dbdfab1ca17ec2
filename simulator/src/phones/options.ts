import { arrayIn, isObject, objectIn, scalarIn, textIn } from '../json.ts'
import { findTemplate, type Message, type PhoneNumber, type World } from '../world.ts'

/** Something on a message that a thumb can press and that answers. */
export type Option =
  | { kind: 'button'; payload: string; text: string }
  | { kind: 'button_reply'; id: string; title: string }
  | { kind: 'list_reply'; id: string; title: string; description: string | undefined }

export function optionsOf(world: World, number: PhoneNumber, message: Message): Option[] {
  if (message.direction !== 'out') return []
  if (message.type === 'template') return templateOptions(world, number, message.content)
  return message.type === 'interactive' ? interactiveOptions(message.content) : []
}

/** The option somebody means: by its words, its id or payload, or its place. */
export function chooseOption(options: Option[], wanted: string | number): Option | undefined {
  if (typeof wanted === 'number') return options[wanted]
  const key = (option: Option) => (option.kind === 'button' ? option.payload : option.id)
  const words = (option: Option) => (option.kind === 'button' ? option.text : option.title)
  return options.find((option) => words(option) === wanted) ?? options.find((option) => key(option) === wanted)
}

function interactiveOptions(content: unknown): Option[] {
  const action = objectIn(content, 'action')
  const buttons = (arrayIn(action, 'buttons') ?? []).map((button): Option => {
    const reply = objectIn(button, 'reply')
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

/** Quick replies come from the template; their payloads from the message, or else they are the words on the button. */
function templateOptions(world: World, number: PhoneNumber, content: unknown): Option[] {
  const language = textIn(objectIn(content, 'language'), 'code') ?? ''
  const template = findTemplate(world, number.wabaId, textIn(content, 'name') ?? '', language)
  return template ? quickReplies(template.components, arrayIn(content, 'components') ?? []) : []
}

function quickReplies(defined: unknown[], sent: unknown[]): Option[] {
  const buttons = arrayIn(componentOf(defined, 'BUTTONS'), 'buttons') ?? []
  const own = buttons.flatMap((button, index): Option[] => {
    if (textIn(button, 'type') !== 'QUICK_REPLY') return []
    const text = textIn(button, 'text') ?? ''
    return [{ kind: 'button', text, payload: payloadOf(sent, index) ?? text }]
  })
  const cards = arrayIn(componentOf(defined, 'CAROUSEL'), 'cards') ?? []
  const sentCards = arrayIn(componentOf(sent, 'CAROUSEL'), 'cards') ?? []
  return [
    ...own,
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

function componentOf(components: unknown[], type: string): unknown {
  return components.find((component) => textIn(component, 'type')?.toUpperCase() === type)
}
