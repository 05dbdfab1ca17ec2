import type { InboundMessageFilters, StoredInboundMessage } from '@parley/contract/inbound-message'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { refuse } from '../../../lib/refuse.ts'
import { toInboundOrder } from '../../../whatsapp/incoming-order.ts'
import { networkIdOf } from '../privacy/erased.ts'
import { findSentMessages } from '../receiving/inbound.sql.ts'
import { mediaUrl } from '../receiving/inbound.ts'
import {
  blocksWith,
  countInbound,
  type InboundRow,
  type InboundSearch,
  inboundById,
  inboundIn,
  type TimeRange,
} from './inbound.sql.ts'
import { allSenders, countedUntil } from './inbound-blocks.sql.ts'
import { fromIndex } from './inbound-blocks.ts'
import { type Conversation, findReplyWindows } from './reply-window.ts'

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
): Promise<{ rows: ListedInbound[]; total: number }> {
  const search: InboundSearch = {
    workspaceId,
    senderId: filters.sender_id && withoutPrefix('snd', filters.sender_id),
    from: filters.from?.replace(/^\+/, ''),
    type: filters.type,
    receivedAfter: filters.received_after,
    receivedBefore: filters.received_before,
  }
  // No sender has this ID. In a block it counts the messages of all.
  if (search.senderId === allSenders) return { rows: [], total: 0 }
  const counted = await countedUntil(db, workspaceId)
  const [rows, total] = await Promise.all([
    fromIndex(db, (tx) => readPage(tx, search, counted, page)),
    // A person has few messages, and no block counts them.
    fromIndex(db, (tx) => countInbound(tx, search, search.from === undefined ? counted : null)),
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

export const markOf = ({ at, id }: ListedInbound) => ({ at, id })

/**
 * Without filters, and for one person, an index has the messages in the order of the list. With other filters, any number of
 * messages may be between two that match, so only blocks that have some are read.
 */
async function readPage(db: Db, search: InboundSearch, counted: Date | null, page: KeySet): Promise<InboundRow[]> {
  const { senderId, type, from, receivedAfter, receivedBefore } = search
  const isFiltered = [senderId, type, receivedAfter, receivedBefore].some((each) => each !== undefined)
  if (counted === null || from !== undefined || !isFiltered) return inboundIn(db, search, [always], page)
  const { order, take, after } = page
  const recent: TimeRange = { firstAt: counted, endAt: 'infinity' }
  const rows = order === 'desc' ? await inboundIn(db, search, [recent], page) : []
  // Newest first, the first block begins at the time of the cursor or before it.
  let bound = after && new Date(after.at.getTime() + (order === 'desc' ? 1 : 0))
  while (rows.length < take) {
    const blocks = await blocksWith(db, search, { order, bound, take: take - rows.length, counted })
    const last = blocks.at(-1)
    if (last === undefined) break
    rows.push(...(await inboundIn(db, search, blocks, { order, after, take: take - rows.length })))
    bound = order === 'desc' ? last.firstAt : last.endAt
  }
  if (order === 'asc' && rows.length < take) {
    rows.push(...(await inboundIn(db, search, [recent], { order, after, take: take - rows.length })))
  }
  return rows
}

const always: TimeRange = { firstAt: '-infinity', endAt: 'infinity' }

/** As the API returns them, in the same order. */
async function toInboundMessages(
  db: Db,
  workspaceId: string,
  publicUrl: string,
  rows: readonly InboundRow[],
): Promise<StoredInboundMessage[]> {
  const named = rows.flatMap(({ sender_id: senderId, quoted, reaction }) =>
    [quoted, reaction?.wa_message_id ?? null].flatMap((waMessageId) =>
      waMessageId === null ? [] : [{ senderId, waMessageId }],
    ),
  )
  const [sent, windowOf] = await fromIndex(db, (tx) =>
    Promise.all([
      named.length === 0 ? [] : findSentMessages(tx, named),
      findReplyWindows(tx, workspaceId, rows.filter(({ group_id }) => group_id === null).map(conversationOf)),
    ]),
  )
  const sentIds = new Map(sent.map(({ senderId, waMessageId, id }) => [`${senderId} ${waMessageId}`, id]))
  return rows.map((row) => {
    const idOf = (waMessageId: string | null) => {
      const id = sentIds.get(`${row.sender_id} ${waMessageId}`)
      return id === undefined ? null : withPrefix('msg', id)
    }
    return {
      message_id: withPrefix('msg', row.id),
      object: 'inbound_message',
      wa_message_id: networkIdOf(row.wa_message_id),
      from: row.sent_by,
      from_user_id: row.sent_by_user_id,
      profile_name: row.profile_name,
      sender_id: withPrefix('snd', row.sender_id),
      type: row.type,
      text: row.text,
      received_at: row.received_at.toISOString(),
      in_reply_to: row.quoted === null ? null : { wa_message_id: row.quoted, message_id: idOf(row.quoted) },
      reply: row.reply,
      media: row.media && { sha256: null, voice: false, ...row.media, url: mediaUrl(publicUrl, row.id) },
      location: row.location,
      username: row.username,
      group_id: row.group_id,
      forwarded: row.forwarded,
      contacts: row.contacts,
      order: row.order && toInboundOrder(row.order),
      reaction: row.reaction && { ...row.reaction, message_id: idOf(row.reaction.wa_message_id) },
      referral: row.referral,
      unsupported: row.unsupported,
      window_expires_at: row.group_id === null ? windowOf(conversationOf(row)) : null,
    }
  })
}

const conversationOf = ({ sender_id, sent_by, sent_by_user_id }: InboundRow): Conversation => ({
  senderId: sender_id,
  person: sent_by === null ? { userId: sent_by_user_id } : { phone: sent_by },
})
