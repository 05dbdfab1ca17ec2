import type { FieldError } from '@parley/contract/field-errors'
import type { InteractiveKind } from '@parley/contract/send-interactive'
import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { checkCards } from './check-carousel.ts'
import { checkEither, fieldError } from './field-error.ts'

/** Checks the rules that a schema cannot express. The message has already passed the schema of its type. */
export function checkInteractive(message: JsonObject, kind: InteractiveKind): FieldError[] {
  const action = readObject(message.action) ?? {}
  return [...headerErrors(readObject(message.header), 'interactive.header'), ...actionErrors(action, kind)]
}

function actionErrors(action: JsonObject, kind: InteractiveKind): FieldError[] {
  switch (kind) {
    case 'button': {
      const replies = readArray(action.buttons).map((button) => readObject(readObject(button)?.reply))
      return [
        ...duplicateErrors(replies, 'id', 'interactive.action.buttons'),
        ...duplicateErrors(replies, 'title', 'interactive.action.buttons'),
      ]
    }
    case 'list': {
      const rows = itemsOf(action, 'rows')
      return [...sectionErrors(action, rows, 10), ...duplicateErrors(rows, 'id', 'interactive.action.sections')]
    }
    case 'product_list':
      return sectionErrors(action, itemsOf(action, 'product_items'), 30)
    case 'flow':
      return flowErrors(readObject(action.parameters) ?? {})
    case 'carousel': {
      const headers = readArray(action.cards).map((card) => readObject(readObject(card)?.header))
      return [
        ...headers.flatMap((header, index) => headerErrors(header, `interactive.action.cards.${index}.header`)),
        ...checkCards(action),
      ]
    }
    default:
      return []
  }
}

function headerErrors(header: JsonObject | null, at: string): FieldError[] {
  if (header === null) return []
  const { type, ...members } = header
  const content = members[String(type)]
  if (content === undefined || Object.keys(members).length !== 1) {
    return [fieldError(at, 'invalid', `A header of type "${type}" must have the field "${type}" and no other.`)]
  }
  return checkEither(`${at}.${type}`, readObject(content), 'id', 'link')
}

function sectionErrors(action: JsonObject, items: readonly unknown[], limit: number): FieldError[] {
  const at = 'interactive.action.sections'
  const sections = readArray(action.sections).map(readObject)
  const untitled = sections.length > 1 ? sections.findIndex((section) => section?.title === undefined) : -1
  const errors: FieldError[] = []
  if (items.length > limit)
    errors.push(fieldError(at, 'too_many', `"${at}" must have at most ${limit} entries in all sections together.`))
  if (untitled !== -1) {
    const title = `${at}.${untitled}.title`
    const message = `"${title}" is required: a list with more than one section needs a title for each.`
    errors.push(fieldError(title, 'missing', message))
  }
  return errors
}

function flowErrors(parameters: JsonObject): FieldError[] {
  const at = 'interactive.action.parameters'
  const errors = checkEither(at, parameters, 'flow_id', 'flow_name')
  if (parameters.flow_action === 'data_exchange' && parameters.flow_action_payload !== undefined) {
    const payload = `${at}.flow_action_payload`
    errors.push(fieldError(payload, 'unexpected', `"${payload}" is not allowed if "flow_action" is "data_exchange".`))
  }
  return errors
}

function duplicateErrors(items: readonly (JsonObject | null)[], name: string, at: string): FieldError[] {
  const values = items.map((item) => item?.[name])
  const unique = new Set(values).size === values.length
  return unique ? [] : [fieldError(at, 'invalid', `Every "${name}" in "${at}" must be unique.`)]
}

function itemsOf(action: JsonObject, name: string): (JsonObject | null)[] {
  return readArray(action.sections)
    .flatMap((section) => readArray(readObject(section)?.[name]))
    .map(readObject)
}
