/**
 * Lists every error of a send request with its path. An interactive message is checked only against the schema of its
 * own type: a list with a long title gets that error, and not one for each of the other types.
 */
import type { FieldError } from '@parley/contract/field-errors'
import { SendLocation, SendRequest, sendTypes } from '@parley/contract/send'
import { type InteractiveKind, interactiveSchemas } from '@parley/contract/send-interactive'
import { Type } from 'typebox'
import { newValidator } from '../../lib/field-errors.ts'
import { characterErrors } from '../../lib/text-errors.ts'
import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { checkCoordinate } from './check-coordinate.ts'
import { checkInteractive } from './check-interactive.ts'
import { checkEither, fieldError } from './field-error.ts'

const strict = { additionalProperties: false }
const location = Type.Object(
  { ...SendLocation.properties, latitude: Type.Unknown(), longitude: Type.Unknown() },
  strict,
)
const shapeErrors = newValidator(
  Type.Object(
    { ...SendRequest.properties, location: Type.Optional(location), interactive: Type.Optional(Type.Unknown()) },
    strict,
  ),
  'body',
)
const interactiveValidators = new Map(
  Object.entries(interactiveSchemas).map(([kind, schema]) => [kind, newValidator(schema, 'body', 'interactive')]),
)

/** If the result is empty, the body is a `SendRequest`. */
export function checkSend(body: unknown): FieldError[] {
  const shape = shapeErrors(body)
  const send = readObject(body)
  if (send === null) return shape
  const nested = send.interactive === undefined ? [] : interactiveErrors(send.interactive)
  return [
    ...recipientErrors(send),
    ...shape,
    ...typeErrors(send),
    ...nested,
    ...contentErrors(send),
    ...characterErrors(send),
  ]
}

function interactiveErrors(value: unknown): FieldError[] {
  const message = readObject(value)
  if (message === null) return [fieldError('interactive', 'wrong_type', '"interactive" must be an object.')]
  const check = interactiveValidators.get(String(message.type))
  if (check === undefined) {
    const kinds = [...interactiveValidators.keys()].join(', ')
    return [fieldError('interactive.type', 'invalid', `"interactive.type" must be one of ${kinds}.`)]
  }
  const errors = check(message)
  return errors.length > 0 ? errors : checkInteractive(message, message.type as InteractiveKind)
}

function recipientErrors({ to, to_user_id, in_reply_to }: JsonObject): FieldError[] {
  if (to !== undefined && to_user_id !== undefined) {
    return [fieldError('to_user_id', 'unexpected', '"to_user_id" is not allowed together with "to".')]
  }
  // A reply goes to the person who wrote the quoted message.
  if (to !== undefined || to_user_id !== undefined || in_reply_to !== undefined) return []
  return [fieldError('to', 'missing', '"to" is required, or "to_user_id" for a contact without a phone number.')]
}

function typeErrors(send: JsonObject): FieldError[] {
  const type = sendTypes.find((known) => known === send.type)
  if (type === undefined) return []
  const missing =
    send[type] === undefined
      ? [fieldError(type, 'missing', `"${type}" is required for messages of type "${type}".`)]
      : []
  const extra = sendTypes
    .filter((other) => other !== type && send[other] !== undefined)
    .map((other) => fieldError(other, 'unexpected', `"${other}" is not allowed for messages of type "${type}".`))
  return [...missing, ...extra]
}

const mediaTypes = ['image', 'video', 'audio', 'document', 'sticker'] as const

function contentErrors(send: JsonObject): FieldError[] {
  const errors = mediaTypes.flatMap((type) => checkEither(type, readObject(send[type]), 'id', 'link'))
  const { latitude, longitude } = readObject(send.location) ?? {}
  errors.push(...checkCoordinate('location.latitude', latitude, 90))
  errors.push(...checkCoordinate('location.longitude', longitude, 180))
  const template = readObject(send.template)
  if (template !== null) errors.push(...templateNameErrors(template))
  readArray(send.contacts).forEach((contact, index) => {
    const name = readObject(readObject(contact)?.name)
    if (name !== null && Object.keys(name).length < 2) {
      const message = `"contacts.${index}.name" must have "formatted_name" and one more field, such as "first_name".`
      errors.push(fieldError(`contacts.${index}.name`, 'invalid', message))
    }
  })
  if (send.type === 'reaction' && send.in_reply_to !== undefined) {
    errors.push(
      fieldError('in_reply_to', 'unexpected', '"in_reply_to" is not allowed for messages of type "reaction".'),
    )
  }
  return errors
}

function templateNameErrors({ id, name, language }: JsonObject): FieldError[] {
  if (id !== undefined && name === undefined && language === undefined) return []
  if (id === undefined && name !== undefined && language !== undefined) return []
  return [fieldError('template', 'invalid', '"template" must have either "id", or "name" and "language".')]
}
