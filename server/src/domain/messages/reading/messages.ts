import type { Message, MessageWithHistory } from '@parley/contract/message'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { batched } from '../../../sharing/batch.ts'
import type { FindTraceparent } from '../../../telemetry/tracing.ts'
import { networkIdOf } from '../privacy/erased.ts'
import { numberIn } from '../recipient.ts'
import { type Author, findTraceparents, type MessageRow, messageById, stepsOf } from './messages.sql.ts'

export { anyReceived, anyReplied, anySent, hasMessages } from './first-messages.sql.ts'
export { listMessages, messageMadeBy } from './messages.sql.ts'
export { messagesByBucket, receivedByBucket } from './statistics.sql.ts'
export type { Author }

export async function getMessage(db: Db, author: Author, id: string): Promise<MessageWithHistory> {
  const uuid = withoutPrefix('msg', id)
  const row = uuid && (await messageById(db, author, uuid))
  if (!row) return refuse('not_found')
  const steps = await stepsOf(db, author.workspaceId, row.id)
  const history = steps.map(({ status, occurred_at, error }) => ({
    status,
    occurred_at: occurred_at.toISOString(),
    error,
  }))
  const queued = { status: 'queued' as const, occurred_at: row.created_at.toISOString(), error: null }
  return { ...toMessage(row), history: [queued, ...history] }
}

export const toMessage = (row: MessageRow): Message => ({
  id: withPrefix('msg', row.id),
  object: 'message',
  sender_id: withPrefix('snd', row.sender_id),
  to: numberIn(row.recipient),
  to_user_id: row.recipient_user_id,
  type: row.type,
  template_id: row.template_id && withPrefix('tpl', row.template_id),
  reference: row.reference,
  status: row.status,
  wa_message_id: networkIdOf(row.wa_message_id),
  credits: row.credits,
  error: row.error,
  pricing: row.pricing,
  created_at: row.created_at.toISOString(),
  sent_at: row.sent_at?.toISOString() ?? null,
  delivered_at: row.delivered_at?.toISOString() ?? null,
  read_at: row.read_at?.toISOString() ?? null,
  failed_at: row.failed_at?.toISOString() ?? null,
})

/** Reads the traces of messages, many with one statement. `db` must see all workspaces. */
export const newFindTraceparent = (db: Db): FindTraceparent =>
  batched(async (messageIds: string[]) => {
    const rows = await findTraceparents(db, messageIds)
    const byId = new Map(rows.map(({ id, traceparent }) => [id, traceparent]))
    return messageIds.map((id) => byId.get(id) ?? null)
  })
