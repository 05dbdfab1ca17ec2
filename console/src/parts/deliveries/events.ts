import type { EventType } from '@parley/contract/events'

const details = {
  'message.received': 'Somebody messaged one of your numbers',
  'message.sent': 'The network accepted a message',
  'message.delivered': 'It reached the handset',
  'message.read': 'The recipient opened it',
  'message.failed': 'It will not arrive',
  'flow.completed': 'A form was submitted',
} as const satisfies Record<EventType, string>

/** Every event an endpoint can listen to, with what it means. */
export const eventChoices = (Object.keys(details) as EventType[]).map((type) => ({
  value: type,
  title: type,
  detail: details[type],
}))
