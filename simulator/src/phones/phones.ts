import { userIdOf, waIdOf } from '../ids.ts'
import type { Network } from '../network.ts'
import type { Phone } from '../world.ts'

/** The phone with this number. It is created on first use. */
export function phoneFor(network: Network, phoneNumber: string): Phone {
  const waId = waIdOf(phoneNumber)
  const known = network.world.phones.get(waId)
  if (known) return known
  const phone: Phone = {
    waId,
    name: `Phone ${waId.slice(-4)}`,
    userId: userIdOf(waId),
    username: null,
    online: true,
    readReceipts: true,
    onWhatsApp: true,
    acceptsMarketing: true,
    switches: {},
  }
  network.world.phones.set(waId, phone)
  network.log.publish({ name: 'phone', data: phone })
  network.changed()
  return phone
}
