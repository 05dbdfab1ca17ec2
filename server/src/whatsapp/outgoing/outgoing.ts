/** Builds the body of WhatsApp's send request. The request must have passed `check-send.ts`. */
import type { SendRequest } from '@parley/contract/send'
import { type JsonObject, readObject } from '../read-json.ts'
import { buildTemplate, decimal } from './template.ts'
import type { NetworkTemplate } from './variables.ts'

export interface Outgoing {
  /** Our ID. It is returned with every status, so the outcome of a send whose response was lost becomes known. */
  messageId: string
  request: SendRequest
  /** Required if the request has a template. */
  template?: NetworkTemplate
  /** For a form, if the request has no token. */
  flowToken?: string
  /** WhatsApp's ID of the message that this is a reply to. */
  quotedWaMessageId?: string
  /** WhatsApp's ID of the message that this is a reaction to. */
  reactedWaMessageId?: string
}

export function buildMessage(outgoing: Outgoing): JsonObject {
  const { request, messageId, quotedWaMessageId } = outgoing
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Without the plus, WhatsApp may add the country code of the business number.
    ...(request.to === undefined ? { recipient: request.to_user_id } : { to: `+${request.to.replace(/^\+/, '')}` }),
    ...(request.recipient_identity_key_hash !== undefined && {
      recipient_identity_key_hash: request.recipient_identity_key_hash,
    }),
    ...(quotedWaMessageId !== undefined &&
      request.type !== 'reaction' && { context: { message_id: quotedWaMessageId } }),
    type: request.type,
    [request.type]: content(outgoing),
    biz_opaque_callback_data: messageId,
  }
}

function content({ request, template, flowToken, reactedWaMessageId }: Outgoing): unknown {
  switch (request.type) {
    case 'template':
      if (template === undefined) throw new Error('Outgoing.template is required for messages of type "template".')
      return buildTemplate(template, request.template ?? {}, flowToken ?? null)
    case 'location':
      return location(request.location)
    case 'reaction':
      return { message_id: reactedWaMessageId ?? request.reaction?.message_id, emoji: request.reaction?.emoji }
    case 'interactive':
      return interactive(request.interactive, flowToken)
    case 'text':
      return { preview_url: request.text?.preview_url ?? false, body: request.text?.body }
    default:
      return request[request.type]
  }
}

function location(place: SendRequest['location']): JsonObject {
  const { latitude, longitude, ...rest } = place ?? { latitude: 0, longitude: 0 }
  return { latitude: decimal(latitude), longitude: decimal(longitude), ...rest }
}

function interactive(message: SendRequest['interactive'], flowToken: string | undefined): unknown {
  if (message?.type !== 'flow') return message
  const { flow_action_payload: payload, ...given } = message.action.parameters
  const token = given.flow_token ?? flowToken
  const parameters = {
    flow_message_version: '3',
    ...given,
    ...(token !== undefined && { flow_token: token }),
    ...withoutEmptyPayload(payload),
  }
  return { ...message, action: { ...message.action, parameters } }
}

/** WhatsApp rejects an empty `data` object. */
function withoutEmptyPayload({ screen, data }: { screen?: string; data?: unknown } = {}): JsonObject {
  const payload = {
    ...(screen !== undefined && { screen }),
    ...(Object.keys(readObject(data) ?? {}).length > 0 && { data }),
  }
  return Object.keys(payload).length > 0 ? { flow_action_payload: payload } : {}
}
