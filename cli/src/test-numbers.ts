import type { EventType } from '@parley/contract/events'

/** Recipients of the simulator that stop at a status, by the event of that status. See its manual. */
export const testNumbers: Readonly<Partial<Record<EventType, string>>> = {
  'message.sent': '15559000009',
  'message.delivered': '15559000010',
  'message.read': '15559000011',
  'message.failed': '15550131026',
}

/** A message that every account of the simulator can send. */
export const helloTo = (to: string, senderId: string) => ({
  sender_id: senderId,
  to,
  type: 'template',
  template: { name: 'hello_world', language: 'en_US' },
})

export const sentHello = (id: string, to: string): string =>
  `Sent message ${id} to ${to}, a test number of the simulator.`
