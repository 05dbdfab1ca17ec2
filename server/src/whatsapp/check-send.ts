/**
 * Every fault of a send request, each named by its path. The schema of the kind that was meant is the one that speaks:
 * a list with a title too long is told so, not that it fails to be any of nine other things.
 */
import type { Fault } from '@parley/contract/errors'
import { SendRequest, sendTypes } from '@parley/contract/send'
import { type InteractiveKind, interactiveSchemas } from '@parley/contract/send-interactive'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { checkInteractive } from './check-interactive.ts'
import { type JsonObject, readArray, readObject } from './read-json.ts'
import { schemaFaults } from './schema-faults.ts'

// TypeBox stops at eight errors unless told; a caller wants to see them all at once.
Settings.Set({ maxErrors: 50 })

const request = Compile(
  Type.Object(
    { ...SendRequest.properties, interactive: Type.Optional(Type.Unknown()) },
    { additionalProperties: false },
  ),
)
const interactiveKinds = new Map(Object.entries(interactiveSchemas).map(([kind, schema]) => [kind, Compile(schema)]))

/** An empty list means that the body is a `SendRequest`. */
export function checkSend(body: unknown): Fault[] {
  const send = readObject(body)
  if (send === null) return [{ param: '', code: 'wrong_type', message: 'The body must be an object.' }]
  const shape = request.Check(send) ? [] : schemaFaults(request.Errors(send))
  const inside = send.interactive === undefined ? [] : interactiveFaults(send.interactive)
  return [...shape, ...memberFaults(send), ...inside, ...contentFaults(send), ...characterFaults(send, '')]
}

export function isSendRequest(body: unknown): body is SendRequest {
  return checkSend(body).length === 0
}

function interactiveFaults(value: unknown): Fault[] {
  const message = readObject(value)
  if (message === null)
    return [{ param: 'interactive', code: 'wrong_type', message: '"interactive" must be an object.' }]
  const schema = interactiveKinds.get(String(message.type))
  if (schema === undefined) {
    const kinds = Object.keys(interactiveSchemas).join(', ')
    return [{ param: 'interactive.type', code: 'invalid', message: `"interactive.type" must be one of ${kinds}.` }]
  }
  if (!schema.Check(message)) return schemaFaults(schema.Errors(message), 'interactive')
  return checkInteractive(message, message.type as InteractiveKind)
}

function memberFaults(send: JsonObject): Fault[] {
  const type = sendTypes.find((known) => known === send.type)
  if (type === undefined) return []
  const missing =
    send[type] === undefined
      ? [{ param: type, code: 'required', message: `A message of type "${type}" needs "${type}".` }]
      : []
  const extra = sendTypes
    .filter((other) => other !== type && send[other] !== undefined)
    .map((other) => ({ param: other, code: 'unexpected', message: `"${other}" does not go with type "${type}".` }))
  return [...missing, ...extra]
}

const mediaTypes = ['image', 'video', 'audio', 'document', 'sticker'] as const

function contentFaults(send: JsonObject): Fault[] {
  const faults: Fault[] = []
  for (const type of mediaTypes) {
    const file = readObject(send[type])
    if (file !== null && (file.id === undefined) === (file.link === undefined)) {
      faults.push({ param: type, code: 'invalid', message: `"${type}" takes either "id" or "link".` })
    }
  }
  const template = readObject(send.template)
  if (template !== null) faults.push(...namingFaults(template))
  readArray(send.contacts).forEach((contact, index) => {
    const name = readObject(readObject(contact)?.name)
    if (name !== null && Object.keys(name).length < 2) {
      const message = 'A name needs "formatted_name" and one other part, such as "first_name".'
      faults.push({ param: `contacts.${index}.name`, code: 'invalid', message })
    }
  })
  if (send.type === 'reaction' && send.in_reply_to !== undefined) {
    faults.push({ param: 'in_reply_to', code: 'unexpected', message: 'A reaction cannot be a reply.' })
  }
  return faults
}

function namingFaults({ id, name, language }: JsonObject): Fault[] {
  if (id !== undefined && name === undefined && language === undefined) return []
  if (id === undefined && name !== undefined && language !== undefined) return []
  const message = 'A template is named by "id", or by "name" and "language".'
  return [{ param: 'template', code: 'invalid', message }]
}

const maxDepth = 64

/** Half a surrogate pair or a NUL can be neither stored nor sent. */
function characterFaults(value: unknown, path: string, depth = 0): Fault[] {
  if (typeof value === 'string') return isPlain(value) ? [] : [characterFault(path)]
  if (typeof value !== 'object' || value === null) return []
  if (depth > maxDepth) return [{ param: path, code: 'too_deep', message: 'The value is nested too deeply.' }]
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`
    return isPlain(key) ? characterFaults(inner, at, depth + 1) : [characterFault(path)]
  })
}

function characterFault(param: string): Fault {
  return { param, code: 'invalid_characters', message: 'The text holds characters that cannot be stored.' }
}

function isPlain(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
