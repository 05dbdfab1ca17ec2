import { arrayIn, objectIn, textIn } from '../json.ts'
import type { NetworkLog } from '../network-log.ts'
import type { World } from '../world.ts'
import type { Update } from './envelope.ts'

/** Called when a webhook got a 200 response: its messages have reached the business, which the phone shows as two ticks. */
export function recordAccepted(world: World, log: NetworkLog, update: Update): void {
  const value = objectIn(update.value, 'standby') ?? update.value
  for (const part of arrayIn(value, 'messages') ?? []) {
    const message = world.messages.get(textIn(part, 'id') ?? '')
    if (message?.direction !== 'in' || message.receipt !== undefined) continue
    message.receipt = 'taken'
    log.publish({ name: 'status', data: { id: message.id, waId: message.waId, status: 'taken' } })
  }
}
