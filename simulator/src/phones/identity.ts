import type { Json } from '../json.ts'
import type { SenderIdentity } from '../switches.ts'
import type { Phone } from '../world.ts'

/** The sender fields of an inbound message: with the number, without it, or in one of the forms seen in practice. */
export function senderOf(phone: Phone, identity: SenderIdentity): Json {
  const from = visibleNumber(phone, identity)
  return { ...(from === undefined ? {} : { from }), from_user_id: phone.userId }
}

/** The recipient fields of a message that the business wrote elsewhere. */
export function recipientOf(phone: Phone, identity: SenderIdentity): Json {
  const to = visibleNumber(phone, identity)
  return { ...(to === undefined ? {} : { to }), to_user_id: phone.userId }
}

export function contactOf(phone: Phone, identity: SenderIdentity, withUsername = true): Json {
  const waId = visibleNumber(phone, identity)
  return {
    profile: { name: phone.name, ...(phone.username && withUsername ? { username: `@${phone.username}` } : {}) },
    ...(waId === undefined ? {} : { wa_id: waId }),
    user_id: phone.userId,
  }
}

function visibleNumber(phone: Phone, identity: SenderIdentity): string | undefined {
  switch (identity) {
    case 'phone':
      return phone.waId
    case 'user_id_only':
      return undefined
    case 'empty_from':
      return ''
    case 'user_id_in_from':
      return phone.userId
  }
}
