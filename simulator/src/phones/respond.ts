import { arrayIn, objectIn, scalarIn, textIn } from '../json.ts'
import { openChat, playVoice } from '../network/lifecycle.ts'
import type { Network } from '../network.ts'
import { bool, ControlError, invalid, json, list, object, oneOf, optional, record, type Shape, text } from '../shape.ts'
import { findTemplate, type Message, type Phone, type PhoneNumber } from '../world.ts'
import { action, target, to } from './action.ts'
import { storeEncryptedFile } from './encrypted-file.ts'
import { fileReference, formFileShape, readPhoneFile, storeFile } from './files.ts'
import { inChat, messageFor, numberFor, numberOf } from './find.ts'
import { receiveMessage } from './inbound.ts'
import { chooseOption, optionsOf } from './options.ts'

const choice: Shape<string | number> = (value, field) =>
  typeof value === 'string' || typeof value === 'number'
    ? value
    : invalid(field, 'the button text, its ID, or its index')

/** Actions on a message from a business. */
export const respondActions = {
  tap: action(object({ ...target, button: choice }), (network, phone, input) => {
    const hasOptions = (message: Message) => optionsOf(network.world, numberOf(network, message), message).length > 0
    const message = messageFor(network, phone, input.message, hasOptions, 'a message with buttons')
    const business = numberOf(network, message)
    const options = optionsOf(network.world, business, message)
    const option = chooseOption(options, input.button)
    if (!option) {
      const labels = options.map((one) => (one.kind === 'button' ? one.text : one.title)).join(', ')
      throw new ControlError(`button: ${input.button} not found. Available buttons: ${labels}.`, 'button')
    }
    const context = { from: business.phoneNumber, id: message.id }
    if (option.kind === 'button') {
      const { payload, text: label } = option
      return reply(network, phone, business, { type: 'button', content: { payload, text: label }, context })
    }
    const { kind, ...chosen } = option
    const content = { type: kind, [kind]: chosen }
    return reply(network, phone, business, { type: 'interactive', content, context })
  }),

  react: action(object({ ...target, emoji: text({ max: 40 }) }), (network, phone, { message, emoji }) =>
    react(network, phone, message, { emoji }),
  ),

  /** WhatsApp sends a removed reaction without an emoji or with an empty one. */
  unreact: action(object({ ...target, emptyEmoji: optional(bool) }), (network, phone, { message, emptyEmoji }) =>
    react(network, phone, message, emptyEmoji ? { emoji: '' } : {}),
  ),

  /**
   * Submits the form of a flow message. Up to ten files become media and are referenced in the response. The files of
   * an encrypted form are stored encrypted on the file host.
   */
  fillForm: action(
    object({
      ...target,
      values: optional(record(json)),
      files: optional(record(list(formFileShape, 10))),
      encrypted: optional(bool),
      omitFlowToken: optional(bool),
      /** Sent as the form response instead, even if it is not JSON. */
      responseJson: optional(text({ min: 0 })),
    }),
    (network, phone, input) => {
      const isForm = (message: Message) => flowToken(network, message) !== undefined
      const message = messageFor(network, phone, input.message, isForm, 'a message with a form')
      const business = numberOf(network, message)
      const files = Object.values(input.files ?? {}).flat()
      if (files.length > 10) throw new ControlError('files: a form accepts at most 10 files.', 'files')
      const uploads = Object.entries(input.files ?? {}).map(([name, formFiles]) => [
        name,
        formFiles.map(({ sha256, ...file }) => {
          const [kind, field] = [kindOf(file.mimeType), `files.${name}`]
          if (input.encrypted) return storeEncryptedFile(network, business, readPhoneFile(kind, file, field), sha256)
          return fileReference(storeFile(network, business, kind, file, field), sha256)
        }),
      ])
      const token = input.omitFlowToken ? {} : { flow_token: flowToken(network, message) }
      const response =
        input.responseJson ?? JSON.stringify({ ...token, ...input.values, ...Object.fromEntries(uploads) })
      const content = { type: 'nfm_reply', nfm_reply: { response_json: response, body: 'Sent', name: 'flow' } }
      const context = { from: business.phoneNumber, id: message.id }
      return reply(network, phone, business, { type: 'interactive', content, context })
    },
  ),

  /** Shares the phone's own number, as after a contact request. */
  sharePhone: action(object({ ...to, ...target }), (network, phone, input) => {
    const business = numberFor(network, phone, input.to)
    const phones = [{ phone: `+${phone.waId}`, wa_id: phone.waId, type: 'CELL' }]
    const context = input.message === undefined ? undefined : { from: business.phoneNumber, id: input.message }
    const content = [{ origin: 'contact_request', phones }]
    return reply(network, phone, business, { type: 'contacts', content, context })
  }),

  /** Replies to a call permission request. A permission that is not permanent expires after seven days. */
  callPermission: action(
    object({ ...to, ...target, response: oneOf('accept', 'reject'), automatic: optional(bool) }),
    (network, phone, { to: number, message: id, response, automatic }) => {
      const isInChat = inChat(network, phone, number)
      const isRequest = (one: Message) =>
        one.direction === 'out' && textIn(one.content, 'type') === 'call_permission_request' && isInChat(one)
      const message = messageFor(network, phone, id, isRequest, 'a call permission request')
      const business = numberOf(network, message)
      const expiresAt = Math.floor(network.timers.now().getTime() / 1000) + 7 * 86_400
      const permission = {
        response,
        ...(response === 'accept' ? { expiration_timestamp: expiresAt } : {}),
        response_source: automatic ? 'automatic' : 'user_action',
      }
      const content = { type: 'call_permission_reply', call_permission_reply: permission }
      const context = { from: business.phoneNumber, id: message.id }
      return reply(network, phone, business, { type: 'interactive', content, context })
    },
  ),

  read: action(object({ ...to }), (network, phone, input) => ({
    read: openChat(network, phone, numberFor(network, phone, input.to)),
  })),

  play: action(object({ ...target }), (network, phone, input) => {
    const isAudio = (one: Message) => one.direction === 'out' && one.type === 'audio'
    const message = messageFor(network, phone, input.message, isAudio, 'an audio message from a business')
    playVoice(network, message)
    return { id: message.id }
  }),
}

const reply = (...received: Parameters<typeof receiveMessage>) => ({ id: receiveMessage(...received).id })

function react(network: Network, phone: Phone, id: string | undefined, emoji: { emoji?: string }) {
  const message = messageFor(network, phone, id, (one) => one.direction === 'out', 'a message from a business')
  const content = { message_id: message.id, ...emoji }
  return reply(network, phone, numberOf(network, message), { type: 'reaction', content })
}

function kindOf(mimeType: string | undefined): 'image' | 'document' {
  return mimeType === undefined || mimeType.startsWith('image/') ? 'image' : 'document'
}

/** The flow token of a message; undefined if the message has no form. */
function flowToken(network: Network, message: Message): string | undefined {
  if (message.direction !== 'out') return undefined
  if (message.type === 'interactive') {
    if (textIn(message.content, 'type') !== 'flow') return undefined
    return textIn(objectIn(objectIn(message.content, 'action'), 'parameters'), 'flow_token') ?? 'unused'
  }
  if (message.type !== 'template') return undefined
  const index = flowButtonIndex(network, numberOf(network, message), message)
  if (index < 0) return undefined
  const sent = (arrayIn(message.content, 'components') ?? []).find(
    (component) =>
      textIn(component, 'type')?.toLowerCase() === 'button' && scalarIn(component, 'index') === String(index),
  )
  return textIn(objectIn(arrayIn(sent, 'parameters')?.[0], 'action'), 'flow_token') ?? 'unused'
}

function flowButtonIndex(network: Network, business: PhoneNumber, message: Message): number {
  const language = textIn(objectIn(message.content, 'language'), 'code') ?? ''
  const template = findTemplate(network.world, business.wabaId, textIn(message.content, 'name') ?? '', language)
  const buttons =
    arrayIn(
      template?.components.find((component) => component.type === 'BUTTONS'),
      'buttons',
    ) ?? []
  return buttons.findIndex((button) => textIn(button, 'type') === 'FLOW')
}
