import { acceptMessage } from '../network/accept.ts'
import { startLifecycle } from '../network/lifecycle.ts'
import type { Network } from '../network.ts'
import { businessAction, messageContext } from '../phones/action.ts'
import { requireQueueSpace, timestampOf } from '../phones/inbound.ts'
import { phoneFor } from '../phones/phones.ts'
import { ControlError, object, oneOf, optional, phoneDigits, text } from '../shape.ts'
import { switchesFor } from '../switches.ts'
import { notifyNumber, notifyStandby } from '../webhooks/notify.ts'
import type { Phone, PhoneNumber } from '../world.ts'

const agentAppId = '900000000000001'

/** An agent of Meta that handles conversations of the business. */
export const agentActions = {
  /** Gives the conversation to the agent, which takes it, or back to the business, to which the agent passes it. */
  handover: businessAction(
    object({
      phone: phoneDigits,
      owner: oneOf('agent', 'business'),
      how: optional(oneOf('taken', 'passed')),
      summary: optional(text()),
      metadata: optional(text({ min: 0 })),
    }),
    (network, number, input) => {
      const phone = phoneFor(network, input.phone)
      const others = (phone.withAgent ?? []).filter((id) => id !== number.id)
      const toAgent = input.owner === 'agent'
      if (toAgent === isWithAgent(phone, number))
        throw new ControlError(`owner: the ${input.owner} already handles this conversation.`, 'owner', 409)
      requireQueueSpace(network, number)
      phone.withAgent = toAgent ? [...others, number.id] : others
      const type = `control_${input.how ?? (toAgent ? 'taken' : 'passed')}`
      const context = { type: 'summary', summary: { text: input.summary } }
      const [appId] = Object.keys(network.world.wabas.get(number.wabaId)?.subscriptions ?? {})
      notifyNumber(network, number, phone, 'messaging_handovers', {
        messaging_product: 'whatsapp',
        sender: seesNumber(network, number, phone) ? { phone_number: phone.waId } : { user_id: phone.userId },
        recipient: { phone_number_id: number.id, display_phone_number: number.phoneNumber },
        type,
        timestamp: timestampOf(network.timers.now()),
        [type]: {
          previous_owner_app_id: toAgent ? appId : agentAppId,
          previous_owner_app_role: toAgent ? 'business_app' : 'meta_business_agent',
          previous_owner_role: toAgent ? 'escalation' : 'ai_agent',
          new_owner_role: toAgent ? 'ai_agent' : 'escalation',
          metadata: input.metadata ?? '',
          ...(input.summary === undefined ? {} : { conversation_context: context }),
        },
      })
      network.log.publish({ name: 'phone', data: phone })
      network.changed()
      return {}
    },
  ),

  /** The agent writes to the person. The app gets the message and its statuses in `standby` webhooks. */
  agentSay: businessAction(
    object({ phone: phoneDigits, text: text({ max: 4096 }), replyTo: messageContext.replyTo }),
    (network, number, { phone: digits, text: body, replyTo }) => {
      const phone = phoneFor(network, digits)
      if (!isWithAgent(phone, number))
        throw new ControlError('phone: the agent does not handle this conversation. Use handover first.', 'phone', 409)
      requireQueueSpace(network, number)
      const toUserId = !seesNumber(network, number, phone)
      const draft = { type: 'text', content: { body }, contextId: replyTo ?? null, opaque: null, toUserId }
      const message = acceptMessage(network, number, phone, {
        ...draft,
        category: null,
        failsWith: null,
        source: 'agent',
      })
      const sent = {
        ...(toUserId ? { recipient: phone.userId } : { to: phone.waId }),
        recipient_type: 'individual',
        type: 'text',
        text: { body },
        ...(replyTo === undefined ? {} : { context: { message_id: replyTo } }),
      }
      const timestamp = timestampOf(network.timers.now())
      notifyStandby(network, number, phone, { message_echoes: [{ id: message.id, timestamp, message: sent }] })
      startLifecycle(network, message)
      return { id: message.id }
    },
  ),
}

const isWithAgent = (phone: Phone, number: PhoneNumber): boolean => phone.withAgent?.includes(number.id) ?? false

const seesNumber = (network: Network, number: PhoneNumber, phone: Phone): boolean =>
  switchesFor(network.world, number, phone).senderIdentity === 'phone'
