import { newWamid } from '../ids.ts'
import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import { type Message, type MessageOutcome, type Phone, type PhoneNumber, storeMessage } from '../world.ts'
import { windowIsOpen } from './lifecycle.ts'
import { type SimulatedFailure, testNumberOf } from './test-numbers.ts'

/** A validated message that the network is about to accept. */
export interface Draft {
  type: string
  content: unknown
  contextId: string | null
  opaque: string | null
  toUserId: boolean
  /** The template's category, or null for a free-form message. */
  category: string | null
  failsWith: number | null
  source?: 'agent'
}

/** Accepts the message: assigns an ID, decides the outcome and stores it in the conversation. */
export function acceptMessage(network: Network, number: PhoneNumber, phone: Phone, draft: Draft): Message {
  const isOpen = windowIsOpen(network, number.id, phone.waId)
  const message: Message = {
    id: newWamid(phone.waId),
    direction: 'out',
    numberId: number.id,
    waId: phone.waId,
    type: draft.type,
    content: draft.content,
    at: network.timers.now().toISOString(),
    contextId: draft.contextId,
    ...(draft.source === undefined ? {} : { source: draft.source }),
    journey: {
      state: 'accepted',
      fate: outcomeOf(network, number, phone, draft, isOpen),
      opaque: draft.opaque,
      toUserId: draft.toUserId,
      category: draft.category?.toLowerCase() ?? 'service',
      free: false,
      history: [],
    },
  }
  storeMessage(network.world, message)
  network.log.publish({ name: 'message', data: message })
  network.changed()
  return message
}

const failsAfterSent = new Set([131036])

function outcomeOf(network: Network, number: PhoneNumber, phone: Phone, draft: Draft, isOpen: boolean): MessageOutcome {
  const testNumber = testNumberOf(phone.waId)
  if (testNumber?.kind === 'fails') return fail(testNumber.code)
  if (!phone.onWhatsApp) return fail(131026)
  if (draft.category === 'MARKETING' && !phone.acceptsMarketing) return fail(131050)
  const isFreeForm = draft.category === null
  if (isFreeForm && !isOpen && !testNumber && switchesFor(network.world, number, phone).customerWindow)
    return fail(131047)
  if (draft.failsWith !== null) return fail(draft.failsWith)
  // A reaction is reported as sent and nothing after that.
  if (draft.type === 'reaction') return { kind: 'deliver', never: 'delivered' }
  return testNumber?.kind === 'failure' ? failureOutcome(testNumber.failure, isFreeForm) : { kind: 'deliver' }
}

function fail(code: number): MessageOutcome {
  return { kind: 'fail', code, afterSent: failsAfterSent.has(code) }
}

function failureOutcome(failure: SimulatedFailure, isFreeForm: boolean): MessageOutcome {
  switch (failure) {
    case 'never_delivered':
      return { kind: 'deliver', never: 'delivered' }
    case 'never_read':
      return { kind: 'deliver', never: 'read' }
    case 'read_without_delivered':
      return { kind: 'deliver', skipDelivered: true }
    case 'held_then_dropped':
      return isFreeForm ? { kind: 'deliver' } : fail(132015)
    default:
      return { kind: 'deliver' }
  }
}
