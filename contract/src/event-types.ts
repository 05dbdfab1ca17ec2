/** The names of events, without their schemas: programs that only need these load no TypeBox. */
export const eventTypes = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.received',
  'message.echoed',
  'flow.completed',
  'template.status_changed',
  'sender.status_changed',
  'contact.preference_changed',
  'conversation.control_changed',
  'history.imported',
  'webhook.disabled',
  'credits.low',
  'network.update',
] as const

export type EventType = (typeof eventTypes)[number]

/** The type that `GET /v1/events` returns only if it is asked for: it repeats much of what other events say. */
export const updateEventType = 'network.update' satisfies EventType

/** The type of events that a person sends to check an endpoint. Endpoints get them without subscribing. */
export const testEventType = 'webhook.test'
