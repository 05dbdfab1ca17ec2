import { arrayIn, objectIn, textIn } from '../json.ts'
import { findTemplate, type Message, type PhoneNumber, type World } from '../world.ts'
import { componentOf } from './options.ts'

/** What a person reads: the text, the caption, or the body of an interactive message or of a template. */
export function shownText(world: World, number: PhoneNumber, { type, content }: Message): string | null {
  if (type === 'template') return filledBody(world, number, content)
  if (type === 'text') return textIn(content, 'body') ?? null
  return textIn(content, 'caption') ?? textIn(objectIn(content, 'body'), 'text') ?? null
}

/** The body of the template with its variables, by position or by name. */
function filledBody(world: World, number: PhoneNumber, content: unknown): string | null {
  const language = textIn(objectIn(content, 'language'), 'code') ?? ''
  const template = findTemplate(world, number.wabaId, textIn(content, 'name') ?? '', language)
  const body = textIn(componentOf(template?.components ?? [], 'BODY'), 'text')
  if (body === undefined) return null
  const sent = arrayIn(componentOf(arrayIn(content, 'components') ?? [], 'BODY'), 'parameters') ?? []
  return body.replaceAll(/\{\{(\w+)\}\}/g, (variable, key: string) => {
    const parameter = sent.find((one) => textIn(one, 'parameter_name') === key) ?? sent[Number(key) - 1]
    const amount = objectIn(parameter, 'currency') ?? objectIn(parameter, 'date_time')
    return textIn(parameter, 'text') ?? textIn(amount, 'fallback_value') ?? variable
  })
}
