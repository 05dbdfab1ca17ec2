import { randomUUID } from 'node:crypto'
import { type EventType, eventSchemas } from '@parley/contract/events'

const ownIds = { message_id: 'msg', source_message_id: 'msg', id: 'frs' } as const

/**
 * What an event of this type carries, as the contract's example has it: true to its schema, with ids and times of its own,
 * and marked as a test, which receivers may look for.
 */
export function sampleOf(type: EventType, now: Date): Record<string, unknown> {
  // Every schema of an event has its example, which the type of a schema does not tell.
  const { examples = [] } = eventSchemas[type] as { examples?: readonly { data: object }[] }
  const data: Record<string, unknown> = { ...structuredClone(examples[0]?.data), test: true }
  for (const [field, prefix] of Object.entries(ownIds)) {
    if (typeof data[field] === 'string') data[field] = `${prefix}_${randomUUID()}`
  }
  for (const field of ['occurred_at', 'received_at']) {
    if (field in data) data[field] = now.toISOString()
  }
  return data
}
