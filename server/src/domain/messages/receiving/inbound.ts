import type { InboundMessage } from '@parley/contract/inbound'
import type { Db } from '../../../db/db.ts'
import { newUuid, withPrefix } from '../../../lib/ids.ts'
import type { FormSubmission } from '../../../whatsapp/incoming-form.ts'
import type { InboundItem } from '../../../whatsapp/incoming-message.ts'
import {
  insertEventsSql,
  type NewEvent,
  offerToWorker,
  type PublishedDelivery,
  prepareEvents,
  publish,
} from '../../deliveries/engine/publish.ts'
import { saveSubmissions } from '../../flows/save-submissions.ts'
import { saveOrders } from '../../orders/save-orders.ts'
import type { Destination } from '../../senders/senders.ts'
import { currentRevision, type InboundRow, type KeptRow, saveInboundStatement, sentAmong } from './inbound.sql.ts'

const keepWithEvents = saveInboundStatement(insertEventsSql)

export interface InboundArrival {
  item: InboundItem
  destination: Destination
}

/** The routing changed since somebody looked where messages belong: nothing was kept. */
export class RoutingChanged extends Error {}

/**
 * Keeps messages that people sent and publishes `message.received` for each that is new; a submitted form among them is
 * kept as such and told by `flow.completed` too, and a cart becomes an order. Run it within a transaction, unless all are
 * plain. With `onlyAt` it does all that only at that routing revision, and throws `Rerouted` at any other.
 */
export async function saveInbound(
  db: Db,
  now: Date,
  arrivals: readonly InboundArrival[],
  onlyAt: number | null = null,
): Promise<void> {
  if (arrivals.length === 0) return
  const quoted = await quotedMessages(db, arrivals)
  const rows = arrivals.map(({ item, destination }) => toRow(item, destination, now))
  const events = arrivals.map(({ item, destination }, index): NewEvent => {
    const data = toData(item, destination, rows[index]?.id ?? '', quoted[index]?.id)
    return { workspaceId: destination.workspaceId, type: 'message.received', data }
  })
  const prepared = prepareEvents(db, now, events)
  const kept = await keepWithEvents(db, rows, prepared, onlyAt)
  const fresh = new Set(kept.map(({ messageId }) => messageId))
  if (fresh.size === 0) {
    // All were known, or nothing was looked at.
    if (onlyAt !== null && (await currentRevision(db)) !== onlyAt) throw new RoutingChanged()
    return
  }
  const written = kept.filter((row): row is KeptRow & PublishedDelivery => row.eventId !== null)
  const news = prepared.rows.filter((_, index) => fresh.has(rows[index]?.id ?? ''))
  offerToWorker(db, { ...prepared, rows: news }, written)
  await keepFormsAndOrders(
    db,
    now,
    arrivals.flatMap(({ item, destination }, index) => {
      const id = rows[index]?.id ?? ''
      return !isPlain(item) && fresh.has(id) ? [{ id, item, destination, quoted: quoted[index] ?? null }] : []
    }),
  )
}

/** Nothing but the message and its event is kept of it. */
export const isPlain = ({ form, order }: InboundItem): boolean => form === null && order === null

async function keepFormsAndOrders(db: Db, now: Date, news: readonly News[]): Promise<void> {
  const submissions = await saveSubmissions(db, now, news.flatMap(toSubmission))
  await saveOrders(db, now, news.flatMap(toCart))
  await publish(
    db,
    now,
    submissions.map(({ workspaceId, data }) => ({ workspaceId, type: 'flow.completed', data })),
  )
}

interface News extends InboundArrival {
  id: string
  quoted: Quoted | null
}

function toSubmission({ id, item, destination: { workspaceId, senderId }, quoted }: News) {
  const { form, from, fromUserId, receivedAt } = item
  if (form === null) return []
  return [{ workspaceId, senderId, messageId: id, from, fromUserId, quoted, receivedAt, form }]
}

function toCart({ id, item, destination: { workspaceId, senderId } }: News) {
  const { order: cart, from, fromUserId, profileName, receivedAt } = item
  return cart === null
    ? []
    : [{ workspaceId, senderId, messageId: id, from, fromUserId, profileName, receivedAt, cart }]
}

interface Quoted {
  id: string
  templateId: string | null
}

/** For each the message that it quotes, if we sent that. */
async function quotedMessages(db: Db, arrivals: readonly InboundArrival[]): Promise<(Quoted | undefined)[]> {
  const keyOf = (senderId: string, waMessageId: string | null) => `${senderId} ${waMessageId}`
  const quoted = arrivals.flatMap(({ item: { quotedWaMessageId }, destination: { senderId } }) =>
    quotedWaMessageId === null ? [] : [{ senderId, waMessageId: quotedWaMessageId }],
  )
  if (quoted.length === 0) return []
  const sent = await sentAmong(db, quoted)
  const byKey = new Map(sent.map((message) => [keyOf(message.senderId, message.waMessageId), message]))
  return arrivals.map(({ item, destination }) => byKey.get(keyOf(destination.senderId, item.quotedWaMessageId)))
}

function toRow(item: InboundItem, { workspaceId, senderId }: Destination, now: Date): InboundRow {
  const { text, reply, media, mediaSource, location, form, order, groupId, error } = item
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
    quotedWaMessageId: item.quotedWaMessageId,
    content: withoutNulls({
      text,
      reply,
      media,
      mediaSource,
      location,
      form: form && withoutSources(form),
      order,
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

function withoutNulls(parts: Record<string, unknown>): object {
  const kept: Record<string, unknown> = {}
  for (const name in parts) if (parts[name] !== null) kept[name] = parts[name]
  return kept
}

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
