import type { ListTotal } from '@parley/contract/console/list'
import type { InboundMessageFilters, StoredInboundMessage } from '@parley/contract/inbound-message'
import { boundedTotal } from '../../../db/bounded-total.ts'
import type { Db } from '../../../db/db.ts'
import { oneWithOrderedLookups, withOrderedLookups } from '../../../db/planner-settings.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { refuse } from '../../../lib/refuse.ts'
import { openReceivedFile, type StoredFile } from '../../files/read.ts'
import { networkIdOf } from '../privacy/erased.ts'
import { findReceivedMessages, findSentMessages } from '../receiving/inbound.sql.ts'
import { mediaUrl } from '../receiving/inbound.ts'
import { countInbound, type InboundRow, type InboundSearch, inboundById, inboundOf } from './inbound.sql.ts'
import { type Conversation, findReplyWindows } from './reply-window.ts'
import { toContent } from './timeline.ts'

export interface ListedInbound {
  /** When it was recorded, which is the order of the list: a message that WhatsApp delivers late is new, too. */
  at: Date
  id: string
  message: StoredInboundMessage
}

export async function listInbound(
  db: Db,
  workspaceId: string,
  publicUrl: string,
  filters: InboundMessageFilters,
  page: KeySet,
): Promise<{ rows: ListedInbound[]; total: ListTotal }> {
  const search: InboundSearch = {
    workspaceId,
    senderId: filters.sender_id && withoutPrefix('snd', filters.sender_id),
    from: filters.from?.replace(/^\+/, ''),
    type: filters.type,
    receivedAfter: filters.received_after,
    receivedBefore: filters.received_before,
  }
  const [rows, total] = await Promise.all([
    oneWithOrderedLookups(db, (tx) => inboundOf(tx, search, page)),
    boundedTotal(db, (tx, atMost) => countInbound(tx, search, atMost)),
  ])
  const messages = await toInboundMessages(db, workspaceId, publicUrl, rows)
  return {
    rows: rows.map(({ recorded_at: at, id }, index) => ({ at, id, message: messages[index] as StoredInboundMessage })),
    total,
  }
}

export async function getInbound(
  db: Db,
  workspaceId: string,
  publicUrl: string,
  id: string,
): Promise<StoredInboundMessage> {
  const uuid = withoutPrefix('msg', id)
  const row = uuid && (await inboundById(db, workspaceId, uuid))
  if (!row) return refuse('not_found')
  const [message] = await toInboundMessages(db, workspaceId, publicUrl, [row])
  return message as StoredInboundMessage
}

/** As the API returns them, in the same order. */
async function toInboundMessages(
  db: Db,
  workspaceId: string,
  publicUrl: string,
  rows: readonly InboundRow[],
): Promise<StoredInboundMessage[]> {
  const named = rows.flatMap(({ sender_id: senderId, quoted, reaction, changed }) =>
    [quoted, reaction?.wa_message_id ?? null, changed].flatMap((waMessageId) =>
      waMessageId === null ? [] : [{ senderId, waMessageId }],
    ),
  )
  const changes = rows.flatMap(({ sender_id: senderId, changed }) =>
    changed === null ? [] : [{ senderId, waMessageId: changed }],
  )
  const [sent, received, windowOf] = await withOrderedLookups(db, (tx) =>
    Promise.all([
      named.length === 0 ? [] : findSentMessages(tx, named),
      changes.length === 0 ? [] : findReceivedMessages(tx, changes),
      findReplyWindows(tx, workspaceId, rows.filter(({ group_id }) => group_id === null).map(conversationOf)),
    ]),
  )
  const idsOf = (found: readonly { senderId: string; waMessageId: string; id: string }[]) =>
    new Map(found.map(({ senderId, waMessageId, id }) => [`${senderId} ${waMessageId}`, id]))
  const sentIds = idsOf(sent)
  const changedIds = idsOf([...received, ...sent])
  return rows.map((row) => {
    const idOf = (waMessageId: string | null, ids = sentIds) => {
      const id = ids.get(`${row.sender_id} ${waMessageId}`)
      return id === undefined ? null : withPrefix('msg', id)
    }
    const { media, ...content } = toContent(row, {
      reactedId: idOf(row.reaction?.wa_message_id ?? null),
      changedId: idOf(row.changed, changedIds),
    })
    return {
      message_id: withPrefix('msg', row.id),
      object: 'inbound_message',
      wa_message_id: networkIdOf(row.wa_message_id),
      from: row.sent_by,
      from_user_id: row.sent_by_user_id,
      from_parent_user_id: row.parent_user_id,
      profile_name: row.profile_name,
      sender_id: withPrefix('snd', row.sender_id),
      type: row.type,
      received_at: row.received_at.toISOString(),
      in_reply_to: row.quoted === null ? null : { wa_message_id: row.quoted, message_id: idOf(row.quoted) },
      ...content,
      media: media && { ...media, url: mediaUrl(publicUrl, row.id) },
      group_id: row.group_id,
      window_expires_at: row.group_id === null ? windowOf(conversationOf(row)) : null,
    }
  })
}

const conversationOf = ({ sender_id, sent_by, sent_by_user_id }: InboundRow): Conversation => ({
  senderId: sender_id,
  person: sent_by === null ? { userId: sent_by_user_id } : { phone: sent_by },
})

/** The file of an inbound message. Refuses if it has none, or if it is not available now or any more. */
export async function openInboundMedia(db: Db, clock: Clock, workspaceId: string, id: string): Promise<StoredFile> {
  const messageId = withoutPrefix('msg', id) ?? refuse('not_found')
  return (await openReceivedFile(db, clock, workspaceId, messageId)) ?? refuse('not_found')
}
