import { createHash } from 'node:crypto'
import type { Json } from '../json.ts'
import { statusError } from '../network/errors.ts'
import { contactOf, userIdsOf } from '../phones/identity.ts'
import type { Switches } from '../switches.ts'
import type { Lifecycle, Message, Phone } from '../world.ts'

export type ReportedStatus = 'sent' | 'delivered' | 'read' | 'played' | 'failed'

interface StatusUpdate {
  message: Message
  lifecycle: Lifecycle
  phone: Phone
  status: ReportedStatus
  at: Date
  code?: number
  /** `sent` always has a price, and so does the first of `delivered` and `read`. */
  priced: boolean
}

/** The webhook value of a status. A failed status has no contact and no user ID. */
export function statusValue(update: StatusUpdate, switches: Switches): Json {
  const { message, lifecycle, phone, status, at } = update
  const knowsPhone = !lifecycle.toUserId || switches.senderIdentity === 'phone'
  const recipient = knowsPhone ? { recipient_id: phone.waId } : {}
  const opaque = lifecycle.opaque === null ? {} : { biz_opaque_callback_data: lifecycle.opaque }
  const base = { id: message.id, status, timestamp: seconds(at), ...recipient }
  if (status === 'failed') return { statuses: [{ ...base, errors: [statusError(update.code ?? 131000)], ...opaque }] }
  const isOnPhone = status !== 'sent'
  return {
    contacts: [contactOf(phone, knowsPhone ? 'phone' : 'user_id_only', isOnPhone)],
    statuses: [
      {
        ...base,
        ...userIdsOf(phone, 'recipient_'),
        ...(update.priced && switches.statusShape === 'v23' ? { conversation: conversation(update) } : {}),
        ...(update.priced ? { pricing: pricing(lifecycle, switches) } : {}),
        ...opaque,
      },
    ],
  }
}

function seconds(at: Date): string {
  return String(Math.floor(at.getTime() / 1000))
}

function conversation({ message, lifecycle, status, at }: StatusUpdate): Json {
  return {
    id: createHash('md5').update(message.id).digest('hex'),
    ...(status === 'sent' ? { expiration_timestamp: seconds(new Date(at.getTime() + 86_400_000)) } : {}),
    origin: { type: lifecycle.category },
  }
}

function pricing(lifecycle: Lifecycle, switches: Switches): Json {
  if (switches.pricingModel === 'CBP')
    return { billable: !lifecycle.free, pricing_model: 'CBP', category: lifecycle.category }
  return {
    billable: !lifecycle.free,
    pricing_model: 'PMP',
    type: lifecycle.free ? 'free_customer_service' : 'regular',
    category: lifecycle.category,
  }
}
