import { newWamid } from '../ids.ts'
import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import { type Message, type MessageOutcome, type Phone, type PhoneNumber, remember } from '../world.ts'
import { windowIsOpen } from './lifecycle.ts'
import { type SimulatedFailure, testNumberOf } from './test-numbers.ts'

/** A message the network is about to take, with what its checks found out. */
export interface Draft {
  type: string
  content: unknown
  contextId: string | null
  opaque: string | null
  toUserId: boolean
  /** The template's category, or null for a free-form message. */
  category: string | null
  failsWith: number | null
}

/** Takes the message: gives it an id, decides its fate and writes it into the conversation. */
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
    journey: {
      state: 'accepted',
      fate: fateOf(network, number, phone, draft, isOpen),
      opaque: draft.opaque,
      toUserId: draft.toUserId,
      category: draft.category?.toLowerCase() ?? 'service',
      free: draft.category === null || (draft.category === 'UTILITY' && isOpen),
      history: [],
    },
  }
  remember(network.world, message)
  network.log.tell({ name: 'message', data: message })
  network.changed()
  return message
}

const failsAfterSent = new Set([131036])

function fateOf(network: Network, number: PhoneNumber, phone: Phone, draft: Draft, isOpen: boolean): MessageOutcome {
  const magic = testNumberOf(phone.waId)
  if (magic?.kind === 'fails') return fail(magic.code)
  if (!phone.onWhatsApp) return fail(131026)
  if (draft.category === 'MARKETING' && !phone.acceptsMarketing) return fail(131050)
  const isFreeForm = draft.category === null
  if (isFreeForm && !isOpen && !magic && switchesFor(network.world, number, phone).customerWindow) return fail(131047)
  if (draft.failsWith !== null) return fail(draft.failsWith)
  // A reaction is sent and that is the last one hears of it.
  if (draft.type === 'reaction') return { kind: 'deliver', never: 'delivered' }
  return magic?.kind === 'mishap' ? mishapFate(magic.mishap, isFreeForm) : { kind: 'deliver' }
}

function fail(code: number): MessageOutcome {
  return { kind: 'fail', code, afterSent: failsAfterSent.has(code) }
}

function mishapFate(mishap: SimulatedFailure, isFreeForm: boolean): MessageOutcome {
  switch (mishap) {
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
