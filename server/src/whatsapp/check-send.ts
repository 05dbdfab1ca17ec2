/**
 * Every fault of a send request, each named by its path. The schema of the kind that was meant is the one that speaks:
 * a list with a title too long is told so, not that it fails to be any of nine other things.
 */
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { SendRequest, sendTypes } from '@parley/contract/send'
import { type InteractiveKind, interactiveSchemas } from '@parley/contract/send-interactive'
import { Type } from 'typebox'
import { characterErrors, newValidator } from '../lib/field-errors.ts'
import { checkInteractive } from './check-interactive.ts'
import { type JsonObject, readArray, readObject } from './read-json.ts'

const shapeFaults = newValidator(
  Type.Object(
    { ...SendRequest.properties, interactive: Type.Optional(Type.Unknown()) },
    { additionalProperties: false },
  ),
  'body',
)
const interactiveKinds = new Map(
  Object.entries(interactiveSchemas).map(([kind, schema]) => [kind, newValidator(schema, 'body', 'interactive')]),
)

/** An empty list means that the body is a `SendRequest`. */
export function checkSend(body: unknown): FieldError[] {
  const shape = shapeFaults(body)
  const send = readObject(body)
  if (send === null) return shape
  const inside = send.interactive === undefined ? [] : interactiveFaults(send.interactive)
  return [...shape, ...memberFaults(send), ...inside, ...contentFaults(send), ...characterErrors(send)]
}

function interactiveFaults(value: unknown): FieldError[] {
  const message = readObject(value)
  if (message === null) return [fault('interactive', 'wrong_type', '"interactive" must be an object.')]
  const check = interactiveKinds.get(String(message.type))
  if (check === undefined) {
    const kinds = [...interactiveKinds.keys()].join(', ')
    return [fault('interactive.type', 'invalid', `"interactive.type" must be one of ${kinds}.`)]
  }
  const faults = check(message)
  return faults.length > 0 ? faults : checkInteractive(message, message.type as InteractiveKind)
}

function memberFaults(send: JsonObject): FieldError[] {
  const type = sendTypes.find((known) => known === send.type)
  if (type === undefined) return []
  const missing =
    send[type] === undefined ? [fault(type, 'missing', `"${type}" is required for a message of this type.`)] : []
  const extra = sendTypes
    .filter((other) => other !== type && send[other] !== undefined)
    .map((other) => fault(other, 'unexpected', `"${other}" must be left out of a message of type "${type}".`))
  return [...missing, ...extra]
}

const mediaTypes = ['image', 'video', 'audio', 'document', 'sticker'] as const

function contentFaults(send: JsonObject): FieldError[] {
  const faults: FieldError[] = []
  for (const type of mediaTypes) {
    const file = readObject(send[type])
    if (file !== null && (file.id === undefined) === (file.link === undefined)) {
      faults.push(fault(type, 'invalid', `"${type}" takes either "id" or "link".`))
    }
  }
  const template = readObject(send.template)
  if (template !== null) faults.push(...namingFaults(template))
  readArray(send.contacts).forEach((contact, index) => {
    const name = readObject(readObject(contact)?.name)
    if (name !== null && Object.keys(name).length < 2) {
      const message = 'A name needs "formatted_name" and one other part, such as "first_name".'
      faults.push(fault(`contacts.${index}.name`, 'invalid', message))
    }
  })
  if (send.type === 'reaction' && send.in_reply_to !== undefined) {
    faults.push(fault('in_reply_to', 'unexpected', 'A reaction cannot be a reply.'))
  }
  return faults
}

function namingFaults({ id, name, language }: JsonObject): FieldError[] {
  if (id !== undefined && name === undefined && language === undefined) return []
  if (id === undefined && name !== undefined && language !== undefined) return []
  return [fault('template', 'invalid', 'A template is named by "id", or by "name" and "language".')]
}

const fault = (param: string, code: FieldErrorCode, message: string): FieldError => ({ param, code, message })
