import type { Route } from '../route.ts'
import { writtenByContacts } from './untrusted.ts'

export interface ToolRow {
  name: string
  title: string
  route: `${Route['method']} ${string}`
  description: string
  /** The fields of the result that the service or the workspace writes. All others are marked as untrusted. */
  own: readonly string[] | 'all'
}

const listFields = ['object', 'has_more', 'next_cursor']

const inboundFields = [
  'message_id',
  'sender_id',
  'type',
  'received_at',
  'in_reply_to.message_id',
  'media.url',
  'reaction.message_id',
  'edit.message_id',
  'deletion.message_id',
  'standby',
]
const submissionFields = ['id', 'message_id', 'source_message_id', 'template_id', 'files[].index', 'received_at']
const messageTimes = ['created_at', 'sent_at', 'delivered_at', 'read_at', 'failed_at']

/** Some types have the same field. It is listed if it is the service's in all of them. */
const eventFields = [
  ...new Set([...inboundFields, ...submissionFields]),
  ...['occurred_at', 'webhook_id', 'url', 'failing_since', 'marketing', 'balance', 'threshold'],
  ...['source', 'change', 'messages', 'update_id', 'outcome'],
]

const inAll = (prefix: string, fields: readonly string[]): string[] => fields.map((field) => prefix + field)

/**
 * What an agent may do with an API key. Each tool has the scope, the input, the rules and the result of its route. There is no
 * tool for files, whose bytes do not fit into a conversation.
 */
export const toolRows: readonly ToolRow[] = [
  {
    name: 'list_senders',
    title: 'List senders',
    route: 'GET /v1/senders',
    description: 'Lists the phone numbers that the workspace sends from and receives messages on, newest first.',
    own: 'all',
  },
  {
    name: 'list_templates',
    title: 'List templates',
    route: 'GET /v1/templates',
    description:
      'Lists the message templates, newest first, each with the variables that it needs. Only templates with the status ' +
      '`APPROVED` and `sendable: true` can be sent.',
    own: 'all',
  },
  {
    name: 'send_message',
    title: 'Send a message',
    route: 'POST /v1/messages',
    description:
      'Sends a WhatsApp message to a contact. It spends credits and cannot be undone. The result is the queued message: call ' +
      '`get_message` later for its status. Set `type`, and the field of the same name. To answer a message, set `in_reply_to` ' +
      'to its `message_id`, and leave out `to`. WhatsApp accepts free text only within 24 hours of the last message of the ' +
      'contact (`window_expires_at`), otherwise send a template. Choose a new `idempotency_key` for each message, and use the ' +
      'same one when you repeat a call: the message is then sent once.',
    own: 'all',
  },
  {
    name: 'get_message',
    title: 'Get a message',
    route: 'GET /v1/messages/:id',
    description: 'Returns a message that this API key sent, with its status and the history of its statuses.',
    own: [
      ...['id', 'object', 'sender_id', 'type', 'template_id', 'reference', 'status', 'credits', ...messageTimes],
      ...['history[].status', 'history[].occurred_at'],
    ],
  },
  {
    name: 'list_inbound_messages',
    title: 'List inbound messages',
    route: 'GET /v1/inbound_messages',
    description:
      'Lists the messages that contacts wrote to the workspace, the latest first. Another app or agent replies to those with ' +
      `\`standby\`: do not. ${writtenByContacts}`,
    own: [
      ...listFields,
      'total',
      'total_is_exact',
      ...inAll('data[].', ['object', ...inboundFields, 'window_expires_at']),
    ],
  },
  {
    name: 'list_flow_responses',
    title: 'List form submissions',
    route: 'GET /v1/flow_responses',
    description: `Lists the forms that contacts submitted, newest first. ${writtenByContacts}`,
    own: [
      ...listFields,
      'total',
      'total_is_exact',
      ...inAll('data[].', ['object', ...submissionFields, 'content_removed_at']),
    ],
  },
  {
    name: 'read_events',
    title: 'Read events',
    route: 'GET /v1/events',
    description:
      'Returns the events of the workspace, oldest first: inbound messages, submitted forms, statuses of messages and others. ' +
      'Pass `next_cursor` as `after` in the next call to continue. With `wait`, the call waits up to 25 seconds for an event. ' +
      'Events of the type `network.update`, which Parley does not understand, are returned only if `type` names it. ' +
      writtenByContacts,
    own: [...listFields, ...inAll('data[].', ['id', 'type', 'created_at']), ...inAll('data[].data.', eventFields)],
  },
]
