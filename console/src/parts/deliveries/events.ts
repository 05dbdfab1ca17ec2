import type { EventType } from '@parley/contract/events'

const details = {
  'message.received': 'Someone sent a message to one of your numbers',
  'message.sent': 'WhatsApp accepted a message',
  'message.delivered': 'A message reached the phone',
  'message.read': 'The recipient read a message',
  'message.failed': 'A message could not be delivered',
  'message.echoed': 'Your business wrote a message elsewhere',
  'flow.completed': 'A form was submitted',
  'template.status_changed': 'WhatsApp approved, rejected or paused a template',
  'sender.status_changed': 'The status or quality of one of your numbers changed',
  'contact.preference_changed': 'Someone stopped or resumed marketing messages',
  'conversation.control_changed': 'Another app or an agent took or handed over a conversation',
  'history.imported': 'Past messages of a number were imported',
  'webhook.disabled': 'Another webhook was disabled',
  'credits.low': 'Credits fell to the low-credit warning',
  'network.update': 'WhatsApp sent a change that Parley does not understand',
} as const satisfies Record<EventType, string>

/** Every event that a webhook can subscribe to, with its meaning. */
export const eventChoices = (Object.keys(details) as EventType[]).map((type) => ({
  value: type,
  title: type,
  detail: details[type],
}))
