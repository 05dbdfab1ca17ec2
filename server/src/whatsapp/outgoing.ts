/** Our send request → the body of the network's send call. Takes requests that were checked (`check-send.ts`). */
import type { SendRequest } from '@parley/contract/send'
import { buildTemplate, decimal } from './outgoing-template.ts'
import { type JsonObject, readObject } from './read-json.ts'
import type { NetworkTemplate } from './variables.ts'

export interface Outgoing {
  /** Our id. It comes back with every status, so a send whose answer got lost can be settled. */
  messageId: string
  request: SendRequest
  /** The template, when the request names one. */
  template?: NetworkTemplate
  /** Used for a form whose sender chose no token. */
  flowToken?: string
  /** The network's id of the message answered. */
  quotedWaMessageId?: string
  /** The network's id of the message reacted to. */
  reactedWaMessageId?: string
}

export function buildMessage(outgoing: Outgoing): JsonObject {
  const { request, messageId, quotedWaMessageId } = outgoing
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Without the plus the network may put the business number's own country code in front.
    to: `+${request.to.replace(/^\+/, '')}`,
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
      if (template === undefined) throw new Error('A template send needs its template.')
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
    ...(payload !== undefined && { flow_action_payload: withoutEmptyData(payload) }),
  }
  return { ...message, action: { ...message.action, parameters } }
}

/** The network refuses data that is there but empty. */
function withoutEmptyData(payload: { screen: string; data?: unknown }): JsonObject {
  const { data, ...rest } = payload
  return Object.keys(readObject(data) ?? {}).length > 0 ? payload : rest
}
