import { arrayIn, textIn } from '../json.ts'
import type { WireLog } from '../wire-log.ts'
import type { World } from '../world.ts'
import type { Update } from './envelope.ts'

/** A webhook was answered with 200: the messages in it have reached the business, which a phone shows as two ticks. */
export function noteTaken(world: World, log: WireLog, update: Update): void {
  for (const part of arrayIn(update.value, 'messages') ?? []) {
    const message = world.messages.get(textIn(part, 'id') ?? '')
    if (message?.direction !== 'in' || message.receipt !== undefined) continue
    message.receipt = 'taken'
    log.tell({ name: 'status', data: { id: message.id, waId: message.waId, status: 'taken' } })
  }
}
