import type { InboundMessage } from '@parley/contract/inbound'
import type { Db } from '../../db/db.ts'
import { newUuid, withPrefix } from '../../lib/ids.ts'
import type { InboundItem } from '../../whatsapp/incoming-message.ts'
import { publish } from '../deliveries/deliveries.ts'
import { type Destination, type InboundRow, insertInbound, sentAmong } from './inbound.sql.ts'

export interface Arrival {
  item: InboundItem
  destination: Destination
}

/** Keeps messages that people sent and publishes `message.received` for each that is new. */
export async function keepInbound(db: Db, now: Date, arrivals: readonly Arrival[]): Promise<void> {
  if (arrivals.length === 0) return
  const quotedIds = await quotedMessages(db, arrivals)
  const rows = arrivals.map(({ item, destination }) => toRow(item, destination, now))
  const fresh = await insertInbound(db, rows, now)
  const events = arrivals.flatMap(({ item, destination }, index) => {
    const id = rows[index]?.id ?? ''
    if (!fresh.has(id)) return []
    const quotedId = quotedIds.get(`${destination.senderId} ${item.quotedWaMessageId}`)
    const data = toData(item, destination, id, quotedId)
    return [{ workspaceId: destination.workspaceId, type: 'message.received' as const, data }]
  })
  await publish(db, now, events)
}

async function quotedMessages(db: Db, arrivals: readonly Arrival[]): Promise<Map<string, string>> {
  const quoted = arrivals.flatMap(({ item: { quotedWaMessageId }, destination: { senderId } }) =>
    quotedWaMessageId === null ? [] : [{ senderId, waMessageId: quotedWaMessageId }],
  )
  const sent = quoted.length === 0 ? [] : await sentAmong(db, quoted)
  return new Map(sent.map(({ senderId, waMessageId, id }) => [`${senderId} ${waMessageId}`, id]))
}

function toRow(item: InboundItem, { workspaceId, senderId }: Destination, now: Date): InboundRow {
  const { text, reply, media, mediaSource, location, form, order, quotedWaMessageId, groupId, error } = item
  return {
    id: newUuid(now.getTime()),
    workspaceId,
    senderId,
    waMessageId: item.waMessageId,
    sentBy: item.from,
    sentByUserId: item.fromUserId,
    profileName: item.profileName,
    type: item.type,
    receivedAt: item.receivedAt,
    content: withoutNulls({
      text,
      reply,
      media,
      mediaSource,
      location,
      form,
      order,
      quotedWaMessageId,
      groupId,
      error,
    }),
  }
}

const withoutNulls = (parts: object): object =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null))

/** Every field is always there. */
function toData(
  item: InboundItem,
  { senderId }: Destination,
  id: string,
  quotedId: string | undefined,
): InboundMessage {
  return {
    message_id: withPrefix('msg', id),
    wa_message_id: item.waMessageId,
    from: item.from,
    from_user_id: item.fromUserId,
    profile_name: item.profileName,
    sender_id: withPrefix('snd', senderId),
    type: item.type,
    text: item.text,
    received_at: item.receivedAt.toISOString(),
    in_reply_to:
      item.quotedWaMessageId === null
        ? null
        : {
            wa_message_id: item.quotedWaMessageId,
            message_id: quotedId === undefined ? null : withPrefix('msg', quotedId),
          },
    reply: item.reply,
    media: item.media,
    location: item.location,
  }
}
