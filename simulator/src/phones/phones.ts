import { userIdOf, waIdOf } from '../ids.ts'
import type { Network } from '../network.ts'
import type { Phone } from '../world.ts'

/** The handset with this number; a number nobody has used yet gets one. */
export function phoneFor(network: Network, dialled: string): Phone {
  const waId = waIdOf(dialled)
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
  network.log.tell({ name: 'phone', data: phone })
  network.changed()
  return phone
}
