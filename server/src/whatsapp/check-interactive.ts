import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import type { InteractiveKind } from '@parley/contract/send-interactive'
import { type JsonObject, readArray, readObject } from './read-json.ts'

/** What the schema of an interactive message cannot say. The message is known to fit the schema of its kind. */
export function checkInteractive(message: JsonObject, kind: InteractiveKind): FieldError[] {
  const action = readObject(message.action) ?? {}
  return [...headerFaults(readObject(message.header)), ...actionFaults(action, kind)]
}

function actionFaults(action: JsonObject, kind: InteractiveKind): FieldError[] {
  switch (kind) {
    case 'button': {
      const replies = readArray(action.buttons).map((button) => readObject(readObject(button)?.reply))
      return [
        ...repeated(replies, 'id', 'interactive.action.buttons'),
        ...repeated(replies, 'title', 'interactive.action.buttons'),
      ]
    }
    case 'list': {
      const rows = itemsOf(action, 'rows')
      return [...sectionFaults(action, rows, 10), ...repeated(rows, 'id', 'interactive.action.sections')]
    }
    case 'product_list':
      return sectionFaults(action, itemsOf(action, 'product_items'), 30)
    case 'flow':
      return flowFaults(readObject(action.parameters) ?? {})
    default:
      return []
  }
}

function headerFaults(header: JsonObject | null): FieldError[] {
  if (header === null) return []
  const { type, ...members } = header
  const content = members[String(type)]
  if (content === undefined || Object.keys(members).length !== 1) {
    return [fault('interactive.header', 'invalid', `A header of type "${type}" has the member "${type}" and no other.`)]
  }
  const file = readObject(content)
  if (file !== null && (file.id === undefined) === (file.link === undefined)) {
    return [fault(`interactive.header.${type}`, 'invalid', `"${type}" takes either "id" or "link".`)]
  }
  return []
}

function sectionFaults(action: JsonObject, items: readonly unknown[], limit: number): FieldError[] {
  const at = 'interactive.action.sections'
  const sections = readArray(action.sections).map(readObject)
  const untitled = sections.length > 1 ? sections.findIndex((section) => section?.title === undefined) : -1
  return [
    ...(items.length > limit ? [fault(at, 'too_many', `All sections together may have at most ${limit} items.`)] : []),
    ...(untitled === -1
      ? []
      : [fault(`${at}.${untitled}.title`, 'missing', 'With more than one section each needs a title.')]),
  ]
}

function flowFaults(parameters: JsonObject): FieldError[] {
  const at = 'interactive.action.parameters'
  const named = (parameters.flow_id === undefined) !== (parameters.flow_name === undefined)
  const needless = parameters.flow_action === 'data_exchange' && parameters.flow_action_payload !== undefined
  return [
    ...(named ? [] : [fault(at, 'invalid', 'A form is named by "flow_id" or by "flow_name".')]),
    ...(needless
      ? [fault(`${at}.flow_action_payload`, 'unexpected', 'A form with "data_exchange" takes no payload.')]
      : []),
  ]
}

function repeated(items: readonly (JsonObject | null)[], name: string, at: string): FieldError[] {
  const values = items.map((item) => item?.[name])
  const unique = new Set(values).size === values.length
  return unique ? [] : [fault(at, 'invalid', `Every "${name}" must be different from the others.`)]
}

function itemsOf(action: JsonObject, name: string): (JsonObject | null)[] {
  return readArray(action.sections)
    .flatMap((section) => readArray(readObject(section)?.[name]))
    .map(readObject)
}

const fault = (param: string, code: FieldErrorCode, message: string): FieldError => ({ param, code, message })
