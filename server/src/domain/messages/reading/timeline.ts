/** The details and the timeline of one message for the console. */

import type { MessageDetail, ReceivedContent } from '@parley/contract/console/messages'
import { can, type Role } from '@parley/contract/console/permissions'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { refuse } from '../../../lib/refuse.ts'
import { explainError } from '../../../whatsapp/graph/explain-error.ts'
import { toInboundOrder } from '../../../whatsapp/incoming/order.ts'
import { findPaymentOf } from '../../credits/credits.ts'
import { findEventsOf } from '../../deliveries/reading/deliveries-of-message.ts'
import { responsesOfMessages } from '../../flows/flows.ts'
import { getKey } from '../../keys/keys.ts'
import { ordersByMessage } from '../../orders/orders.ts'
import { requestNear } from '../../requests/console.ts'
import { findSender } from '../../senders/senders.ts'
import { findUsedTemplates } from '../../templates/templates.ts'
import { messageIdsOf } from '../by-network-id.ts'
import { networkIdOf } from '../privacy/erased.ts'
import { type ListedRow, searchMessages, toListed } from './console-list.ts'
import { stepsOf } from './messages.sql.ts'
import { findReplyWindow } from './reply-window.ts'
import { type ReceivedRow, receivedMessage, type SentRow, type StoredContent, sentMessage } from './timeline.sql.ts'

/** Parts that the role may not see are null. */
export async function readTimeline(db: Db, workspaceId: string, role: Role, id: string): Promise<MessageDetail> {
  const uuid = withoutPrefix('msg', id) ?? refuse('not_found')
  // The status first: if the message changes between two statements, the details are newer and explain every status.
  const [listed] = await searchMessages(db, workspaceId, [{ ids: [uuid] }], firstOnly)
  const row =
    (await sentMessage(db, workspaceId, uuid)) ?? (await receivedMessage(db, workspaceId, uuid)) ?? refuse('not_found')
  const sender = await findSender(db, workspaceId, row.sender_id)
  if (!listed || !sender) return refuse('not_found')
  const events = can(role, 'deliveries:read') ? await findEventsOf(db, workspaceId, uuid, row.created_at) : null
  const { quoted, ...rest } =
    row.kind === 'sent' ? await sentParts(db, workspaceId, role, row) : await receivedParts(db, workspaceId, row)
  return {
    ...toListed(listed),
    sender: {
      id: withPrefix('snd', sender.id),
      phone_number: sender.phone_number,
      display_name: sender.display_name,
    },
    wa_message_id: networkIdOf(row.wa_message_id),
    explained: row.error && { ...row.error, ...explainError(row.error) },
    events,
    window_expires_at: await windowOf(db, workspaceId, listed),
    replies: await repliesTo(db, workspaceId, row),
    in_reply_to: quoted === null ? null : await quotedMessage(db, workspaceId, row.sender_id, quoted),
    ...rest,
  }
}

async function windowOf(db: Db, workspaceId: string, { sender_id, phone, user_id: userId, group_id }: ListedRow) {
  if (group_id !== null) return null
  return findReplyWindow(db, workspaceId, sender_id, phone === null ? { userId } : { phone })
}

const firstOnly: KeySet = { take: 1, after: null, order: 'desc' }
const firstReplies: KeySet = { take: 20, after: null, order: 'asc' }

async function sentParts(db: Db, workspaceId: string, role: Role, row: SentRow) {
  const request =
    row.request_id !== null && can(role, 'requests:read')
      ? await requestNear(db, workspaceId, row.request_id, row.created_at)
      : undefined
  const steps = await stepsOf(db, workspaceId, row.id)
  const templateId = row.template_id
  const template = templateId && (await findUsedTemplates(db, workspaceId, [templateId])).get(templateId)
  const payment = can(role, 'credits:read') ? await findPaymentOf(db, workspaceId, row.id) : null
  return {
    quoted: row.content.quotedWaMessageId ?? null,
    received_at: null,
    request: row.content.request as unknown as Record<string, unknown> | null,
    received: null,
    pricing: row.pricing,
    template: template ? { ...template, id: withPrefix('tpl', template.id) } : null,
    author: await authorOf(db, workspaceId, row),
    api_request: request
      ? {
          id: withPrefix('req', request.id),
          at: request.at.toISOString(),
          method: request.method,
          route: request.route,
          status: request.status,
          duration_ms: request.duration_us / 1000,
          address: request.address,
        }
      : null,
    steps: [
      { status: 'queued' as const, at: row.created_at.toISOString() },
      ...steps.map(({ status, occurred_at }) => ({ status, at: occurred_at.toISOString() })),
    ],
    outbox: row.outbox && {
      ...row.outbox,
      due_at: new Date(row.outbox.due_at).toISOString(),
      expires_at: new Date(row.outbox.expires_at).toISOString(),
    },
    credits: payment,
  }
}

async function authorOf(
  db: Db,
  workspaceId: string,
  { key_id: keyId, sent_by: person }: SentRow,
): Promise<MessageDetail['author']> {
  if (keyId !== null) return { kind: 'key', id: keyId, name: (await getKey(db, keyId, workspaceId)).name }
  return person === null ? null : { kind: 'person', id: null, name: person }
}

async function receivedParts(db: Db, workspaceId: string, row: ReceivedRow) {
  const [form] = await responsesOfMessages(db, workspaceId, [row.id])
  const order = (await ordersByMessage(db, workspaceId, [row.id])).get(row.id)
  const target = row.reaction?.wa_message_id ?? row.changed
  const about = target ? await quotedMessage(db, workspaceId, row.sender_id, target) : null
  return {
    quoted: row.quoted,
    received_at: row.received_at.toISOString(),
    request: null,
    received: toReceivedContent(row, {
      aboutId: about?.message?.id ?? null,
      formId: form ? withPrefix('frs', form.id) : null,
      orderId: order?.id ?? null,
    }),
    pricing: null,
    template: null,
    author: null,
    api_request: null,
    steps: [{ status: row.echo_status ?? ('received' as const), at: row.created_at.toISOString() }],
    outbox: null,
    credits: null,
  }
}

/** What the API and the console have in common. The IDs are those of the messages that it reacts to and that it changes. */
export const toContent = (
  row: StoredContent,
  { reactedId, changedId }: { reactedId: string | null; changedId: string | null },
) => ({
  text: row.text,
  reply: row.reply,
  media: row.media && { sha256: null, voice: false, ...row.media },
  location: row.location,
  contacts: row.contacts,
  order: row.order && toInboundOrder(row.order),
  reaction: row.reaction && { ...row.reaction, message_id: reactedId },
  referral: row.referral,
  referred_product: row.referredProduct,
  edit: row.edit && { ...row.edit, message_id: changedId },
  deletion: row.deletion && { ...row.deletion, message_id: changedId },
  unsupported: row.unsupported,
  standby: row.standby,
  forwarded: row.forwarded,
  username: row.username,
})

/** The content of an inbound message, and the IDs of what belongs to it. */
export const toReceivedContent = (
  row: StoredContent,
  { aboutId, formId, orderId }: { aboutId: string | null; formId: string | null; orderId: string | null },
): ReceivedContent => ({
  ...toContent(row, { reactedId: aboutId, changedId: aboutId }),
  form_id: formId,
  order_id: orderId,
  error: row.error,
})

async function repliesTo(db: Db, workspaceId: string, row: SentRow | ReceivedRow) {
  const quoted = networkIdOf(row.wa_message_id)
  if (quoted === null) return []
  const search = { senderId: row.sender_id, quoted }
  return (await searchMessages(db, workspaceId, [search], firstReplies)).map(toListed)
}

async function quotedMessage(db: Db, workspaceId: string, senderId: string, waMessageId: string) {
  const ids = await messageIdsOf(db, workspaceId, waMessageId, senderId)
  const [message] = await searchMessages(db, workspaceId, [{ ids }], firstOnly)
  return { wa_message_id: waMessageId, message: message ? toListed(message) : null }
}
