import type { EchoSource } from '@parley/contract/inbound'
import { type JsonObject, readObject } from '../read-json.ts'
import { type FindContact, type InboundItem, readMessage } from './message.ts'
import type { WebhookSource } from './unread.ts'

/** A message that the business sent without this service. `from` and the other fields of the person name the recipient. */
export interface EchoItem extends Omit<InboundItem, 'kind'> {
  kind: 'echo'
  source: EchoSource
}

export interface EchoOrigin {
  source: EchoSource
  standby: boolean
}

/**
 * The copy of a message that the business sent. It is like an inbound message with the recipient as `to`, or it has the
 * request that sent it as `message`, perhaps with the recipient next to it. Null if it is no message or has no ID.
 */
export function readEcho(
  value: unknown,
  contactOf: FindContact,
  webhook: WebhookSource,
  now: Date,
  { source, standby }: EchoOrigin,
): EchoItem | null {
  const echo = readObject(value)
  if (echo === null) return null
  const { id, timestamp, message: request, type, ...outer } = echo
  const inner = readObject(request)
  const sent = inner === null ? echo : { ...outer, ...inner }
  const { to, to_user_id, to_parent_user_id, context, recipient_type, ...content } = sent as JsonObject
  const quoted = readObject(context)
  const toGroup = recipient_type === 'group'
  const message = {
    ...content,
    id,
    timestamp,
    from: toGroup ? null : to,
    from_user_id: to_user_id,
    from_parent_user_id: to_parent_user_id,
    group_id: toGroup ? to : content.group_id,
    context: quoted && { ...quoted, id: quoted.id ?? quoted.message_id },
  }
  const item = readMessage(message, contactOf, webhook, now, standby)
  return item?.kind === 'message' ? { ...item, kind: 'echo', source } : null
}
