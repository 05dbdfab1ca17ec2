import { arrayIn, textIn } from '../json.ts'
import type { NetworkLog } from '../network-log.ts'
import type { World } from '../world.ts'
import type { Update } from './envelope.ts'

/** A webhook was answered with 200: the messages in it have reached the business, which a phone shows as two ticks. */
export function recordAccepted(world: World, log: NetworkLog, update: Update): void {
  for (const part of arrayIn(update.value, 'messages') ?? []) {
    const message = world.messages.get(textIn(part, 'id') ?? '')
    if (message?.direction !== 'in' || message.receipt !== undefined) continue
    message.receipt = 'taken'
    log.tell({ name: 'status', data: { id: message.id, waId: message.waId, status: 'taken' } })
  }
}
