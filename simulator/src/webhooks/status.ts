import { createHash } from 'node:crypto'
import type { Json } from '../json.ts'
import { statusError } from '../network/errors.ts'
import { contactOf } from '../phones/identity.ts'
import type { Switches } from '../switches.ts'
import type { Lifecycle, Message, Phone } from '../world.ts'

export type ReportedStatus = 'sent' | 'delivered' | 'read' | 'played' | 'failed'

interface StatusNews {
  message: Message
  journey: Lifecycle
  phone: Phone
  status: ReportedStatus
  at: Date
  code?: number
  /** The first of delivered and read carries the price; `sent` always does. */
  priced: boolean
}

/** The part of a webhook value that reports a status. Failed ones name no contact and no user id. */
export function statusValue(news: StatusNews, switches: Switches): Json {
  const { message, journey, phone, status, at } = news
  const knowsPhone = !journey.toUserId || switches.senderIdentity === 'phone'
  const recipient = knowsPhone ? { recipient_id: phone.waId } : {}
  const opaque = journey.opaque === null ? {} : { biz_opaque_callback_data: journey.opaque }
  const base = { id: message.id, status, timestamp: seconds(at), ...recipient }
  if (status === 'failed') return { statuses: [{ ...base, errors: [statusError(news.code ?? 131000)], ...opaque }] }
  const isOnHandset = status !== 'sent'
  return {
    contacts: [contactOf(phone, knowsPhone ? 'phone' : 'user_id_only', isOnHandset)],
    statuses: [
      {
        ...base,
        recipient_user_id: phone.userId,
        ...(news.priced && switches.statusShape === 'v23' ? { conversation: conversation(news) } : {}),
        ...(news.priced ? { pricing: pricing(journey, switches) } : {}),
        ...opaque,
      },
    ],
  }
}

function seconds(at: Date): string {
  return String(Math.floor(at.getTime() / 1000))
}

function conversation({ message, journey, status, at }: StatusNews): Json {
  return {
    id: createHash('md5').update(message.id).digest('hex'),
    ...(status === 'sent' ? { expiration_timestamp: seconds(new Date(at.getTime() + 86_400_000)) } : {}),
    origin: { type: journey.category },
  }
}

function pricing(journey: Lifecycle, switches: Switches): Json {
  if (switches.pricingModel === 'CBP')
    return { billable: !journey.free, pricing_model: 'CBP', category: journey.category }
  return {
    billable: !journey.free,
    pricing_model: 'PMP',
    type: journey.free ? 'free_customer_service' : 'regular',
    category: journey.category,
  }
}
