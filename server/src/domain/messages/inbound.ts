import type { InboundMessage } from '@parley/contract/inbound'
import type { Db } from '../../db/db.ts'
import { newUuid, withPrefix } from '../../lib/ids.ts'
import type { FormSubmission } from '../../whatsapp/incoming-form.ts'
import type { InboundItem } from '../../whatsapp/incoming-message.ts'
import { type NewEvent, publish } from '../deliveries/deliveries.ts'
import { keepSubmissions } from '../flows/keep.ts'
import { keepOrders } from '../orders/keep.ts'
import { type Destination, type InboundRow, insertInbound, sentAmong } from './inbound.sql.ts'

export interface Arrival {
  item: InboundItem
  destination: Destination
}

/**
 * Keeps messages that people sent and publishes `message.received` for each that is new; a submitted form among them is
 * kept as such and told by `flow.completed` too, and a cart becomes an order.
 */
export async function keepInbound(db: Db, now: Date, arrivals: readonly Arrival[]): Promise<void> {
  if (arrivals.length === 0) return
  const quotedIds = await quotedMessages(db, arrivals)
  const rows = arrivals.map(({ item, destination }) => toRow(item, destination, now))
  const fresh = await insertInbound(db, rows, now)
  const news = arrivals.flatMap(({ item, destination }, index) => {
    const id = rows[index]?.id ?? ''
    return fresh.has(id) ? [{ id, item, destination }] : []
  })
  const events: NewEvent[] = news.map(({ id, item, destination }) => {
    const quotedId = quotedIds.get(`${destination.senderId} ${item.quotedWaMessageId}`)
    const data = toData(item, destination, id, quotedId)
    return { workspaceId: destination.workspaceId, type: 'message.received', data }
  })
  for (const { workspaceId, data } of await keepSubmissions(db, now, news.flatMap(toSubmission))) {
    events.push({ workspaceId, type: 'flow.completed', data })
  }
  await keepOrders(db, now, news.flatMap(toCart))
  await publish(db, now, events)
}

interface News extends Arrival {
  id: string
}

function toSubmission({ id, item, destination: { workspaceId, senderId } }: News) {
  const { form, from, fromUserId, quotedWaMessageId, receivedAt } = item
  if (form === null) return []
  return [{ workspaceId, senderId, messageId: id, from, fromUserId, quotedWaMessageId, receivedAt, form }]
}

function toCart({ id, item, destination: { workspaceId, senderId } }: News) {
  const { order: cart, from, fromUserId, profileName, receivedAt } = item
  return cart === null
    ? []
    : [{ workspaceId, senderId, messageId: id, from, fromUserId, profileName, receivedAt, cart }]
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
      form: form && withoutSources(form),
      order,
      quotedWaMessageId,
      groupId,
      error,
    }),
  }
}

/** Where its files lie, and what opens them, is nobody's business but the fetcher's. */
const withoutSources = (form: FormSubmission) => ({
  ...form,
  files: form.files.map(({ field, index, file_name, mime_type }) => ({ field, index, file_name, mime_type })),
})

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
