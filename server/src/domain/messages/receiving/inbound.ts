import type { EchoedMessage, InboundMessage } from '@parley/contract/inbound'
import type { Db } from '../../../db/db.ts'
import { withIndexLookups } from '../../../db/planner-settings.ts'
import { newUuid, withPrefix } from '../../../lib/ids.ts'
import { changedMessageOf } from '../../../whatsapp/incoming/content.ts'
import type { EchoItem } from '../../../whatsapp/incoming/echo.ts'
import type { FormSubmission } from '../../../whatsapp/incoming/form.ts'
import type { InboundItem } from '../../../whatsapp/incoming/message.ts'
import { toInboundOrder } from '../../../whatsapp/incoming/order.ts'
import {
  insertEventsSql,
  type NewEvent,
  offerToWorker,
  prepareEvents,
  publish,
} from '../../deliveries/engine/publish/publish.ts'
import {
  fetchableUntil,
  hasReceivedFileSql,
  insertReceivedFilesSql,
  receivedFileColumns,
  toReceivedFile,
  wakeFetching,
} from '../../files/received.ts'
import { saveSubmissions } from '../../flows/save-submissions.ts'
import { saveOrders } from '../../orders/save-orders.ts'
import type { Destination } from '../../senders/senders.ts'
import { hasDelivery } from '../event-batch.sql.ts'
import {
  currentRevision,
  type FileBatch,
  findReceivedMessages,
  findSentMessages,
  type InboundRow,
  saveInboundStatement,
  savePastStatement,
} from './inbound.sql.ts'
import { holdMoving, mayBeMoved } from './older-messages.ts'

const storeWithEvents = saveInboundStatement(insertEventsSql, insertReceivedFilesSql, receivedFileColumns)
export const past = savePastStatement(insertReceivedFilesSql, receivedFileColumns, hasReceivedFileSql)

interface Arrival<Item = InboundItem | EchoItem> {
  item: Item
  destination: Destination
}

/** The routing revision changed after the messages were routed. Nothing was stored. */
export class RoutingChanged extends Error {}

/**
 * Stores received messages and publishes `message.received` for each new one. A form submission is also stored and published
 * as `flow.completed`, and a cart becomes an order. Fetching files starts after the commit. Run it within a transaction, unless
 * all messages are plain. If `onlyAt` is given and is not the current routing revision, it stores nothing and throws
 * `RoutingChanged`. `publicUrl` is that of this service, for the links to files.
 */
export async function saveInbound(
  db: Db,
  now: Date,
  received: readonly Arrival<InboundItem>[],
  publicUrl: string,
  onlyAt: number | null = null,
): Promise<void> {
  if (received.length > 0) await saveArrivals(db, now, received, publicUrl, onlyAt)
}

/**
 * Stores messages that the business sent elsewhere and publishes `message.echoed` for each new one. A message that this
 * service sent itself is no echo. Run it within a transaction.
 */
export async function saveEchoes(
  db: Db,
  now: Date,
  echoes: readonly Arrival<EchoItem>[],
  publicUrl: string,
): Promise<void> {
  const others = await withoutOwn(db, echoes)
  if (others.length > 0) await saveArrivals(db, now, others, publicUrl, null)
}

/** Leaves out messages that this service sent. */
export async function withoutOwn<Each extends Arrival>(db: Db, arrivals: readonly Each[]): Promise<Each[]> {
  if (arrivals.length === 0) return []
  const sent = await findSentMessages(db, arrivals.map(networkKeyOf))
  const own = new Set(sent.map(({ senderId, waMessageId }) => keyOf(senderId, waMessageId)))
  return arrivals.filter(({ item, destination }) => !own.has(keyOf(destination.senderId, item.waMessageId)))
}

export const networkKeyOf = ({ item: { waMessageId }, destination: { senderId } }: Arrival) => ({
  senderId,
  waMessageId,
})

/** Messages of one kind: either received ones or echoes. */
async function saveArrivals(
  db: Db,
  now: Date,
  received: readonly Arrival[],
  publicUrl: string,
  onlyAt: number | null,
): Promise<void> {
  const arrivals = await withoutRepeatsOfOlder(db, now, received)
  const batch = await toBatch(db, now, arrivals, publicUrl)
  const { rows, files } = batch
  const prepared = prepareEvents(db, now, batch.events)
  const stored = rows.length === 0 ? [] : await storeWithEvents(db, rows, prepared, files, onlyAt)
  const newIds = new Set(stored.map(({ messageId }) => messageId))
  const isNew = (_: unknown, index: number) => newIds.has(rows[index]?.id ?? '')
  if (newIds.size > 0) {
    offerToWorker(db, { ...prepared, rows: prepared.rows.filter(isNew) }, stored.filter(hasDelivery))
    await saveParts(db, now, batch, newIds)
  } else if (onlyAt !== null && (await currentRevision(db)) !== onlyAt) {
    // Nothing was stored because of the revision, and not because all messages are duplicates.
    throw new RoutingChanged()
  }
  if (newIds.size === received.length) return
  const stillNew = new Set(arrivals.filter(isNew))
  const repeated = received.filter((each) => !stillNew.has(each))
  await saveImported(db, now, repeated, publicUrl)
}

/** Publishes those of repeated messages that were only imported as past ones so far, and replaces their contents. */
async function saveImported(db: Db, now: Date, repeated: readonly Arrival[], publicUrl: string): Promise<void> {
  const stored = await findReceivedMessages(db, repeated.map(networkKeyOf))
  const ids = new Map(
    stored.flatMap(({ senderId, waMessageId, id, isPast }) => (isPast ? [[keyOf(senderId, waMessageId), id]] : [])),
  )
  if (ids.size === 0) return
  const byId = new Map(
    repeated.map((each) => [ids.get(keyOf(each.destination.senderId, each.item.waMessageId)), each] as const),
  )
  byId.delete(undefined)
  await db.transaction((outer) =>
    withIndexLookups(outer, async (tx) => {
      await holdMoving(tx)
      const batch = await toBatch(tx, now, [...byId.values()], publicUrl, [...byId.keys()])
      const live = new Set(await past.take(tx, batch.rows, batch.files, now))
      const events = batch.events.filter((_, index) => live.has(batch.rows[index]?.id ?? ''))
      await publish(tx, now, events)
      await saveParts(tx, now, batch, live)
    }),
  )
}

/** Messages with what is stored and published for them. */
interface Batch {
  arrivals: readonly Arrival[]
  rows: readonly InboundRow[]
  events: readonly NewEvent[]
  files: FileBatch
  sent: FindSent
}

async function toBatch(
  db: Db,
  now: Date,
  arrivals: readonly Arrival[],
  publicUrl: string,
  ids: readonly (string | undefined)[] = [],
): Promise<Batch> {
  const sent = await sentMessages(db, arrivals)
  const rows = arrivals.map(({ item, destination }, index) => toRow(item, destination, now, { id: ids[index] }))
  const changed = await changedMessages(db, rows, sent)
  const events = arrivals.map(({ item, destination }, index): NewEvent => {
    const data = toData(item, destination, rows[index]?.id ?? '', { sent, changed }, publicUrl)
    const event = { workspaceId: destination.workspaceId, webhook: item.webhook }
    if (item.kind === 'message') return { ...event, type: 'message.received', data }
    return { ...event, type: 'message.echoed', data: toEchoData(data, item) }
  })
  return { arrivals, rows, events, files: filesOf(arrivals, rows, now), sent }
}

/** What comes after the messages with these IDs: fetching their files, forms and orders. */
async function saveParts(
  db: Db,
  now: Date,
  { arrivals, rows, files, sent }: Batch,
  newIds: ReadonlySet<string>,
): Promise<void> {
  if (files.rows.some(({ messageId }) => newIds.has(messageId))) wakeFetching(db)
  const withParts = arrivals.flatMap(({ item, destination }, index) => {
    const id = rows[index]?.id ?? ''
    if (item.kind === 'echo' || isPlain(item) || !newIds.has(id)) return []
    return [{ id, item, destination, quoted: sent(destination, item.quotedWaMessageId) }]
  })
  await saveFormsAndOrders(db, now, withParts)
}

/** The files of messages, with the IDs of their rows. */
export function filesOf(arrivals: readonly Arrival[], rows: readonly InboundRow[], now: Date): FileBatch {
  const files = arrivals.flatMap(({ item: { type, media }, destination: { workspaceId, senderId } }, index) => {
    const messageId = rows[index]?.id ?? ''
    return media === null ? [] : [toReceivedFile({ workspaceId, senderId, messageId, type, media }, now)]
  })
  return { rows: files, tryUntil: fetchableUntil(now) }
}

/**
 * Leaves out messages that are stored already and may have been moved, which the statement that stores them cannot see.
 * Only the network's own time of a message says that it is that old, so only late messages cost a look-up.
 */
async function withoutRepeatsOfOlder(db: Db, now: Date, received: readonly Arrival[]): Promise<readonly Arrival[]> {
  const late = received.filter(({ item }) => mayBeMoved(item.receivedAt, now))
  if (late.length === 0) return received
  const stored = await findReceivedMessages(db, late.map(networkKeyOf))
  const known = new Set(stored.map(({ senderId, waMessageId }) => keyOf(senderId, waMessageId)))
  return received.filter(({ item, destination }) => !known.has(keyOf(destination.senderId, item.waMessageId)))
}

/** A plain message has no form and no order: only the message and its event are stored. */
export const isPlain = ({ form, order }: InboundItem): boolean => form === null && order === null

async function saveFormsAndOrders(db: Db, now: Date, newArrivals: readonly NewArrival[]): Promise<void> {
  const submissions = await saveSubmissions(db, now, newArrivals.flatMap(toSubmission))
  await saveOrders(db, now, newArrivals.flatMap(toCart))
  const events = submissions.map((submission) => ({ ...submission, type: 'flow.completed' as const }))
  await publish(db, now, events)
}

interface NewArrival extends Arrival<InboundItem> {
  id: string
  quoted: Quoted | null
}

function toSubmission({ id, item, destination: { workspaceId, senderId }, quoted }: NewArrival) {
  const { form, from, fromUserId, receivedAt } = item
  if (form === null) return []
  return [{ workspaceId, senderId, messageId: id, from, fromUserId, quoted, receivedAt, form }]
}

function toCart({ id, item, destination: { workspaceId, senderId } }: NewArrival) {
  const { order: cart, from, fromUserId, profileName, receivedAt } = item
  if (cart === null) return []
  return [{ workspaceId, senderId, messageId: id, from, fromUserId, profileName, receivedAt, cart }]
}

interface Quoted {
  id: string
  templateId: string | null
}

/** The message that we sent from this sender and that has this ID of WhatsApp. Null if there is none. */
type FindSent = (destination: Destination, waMessageId: string | null) => Quoted | null

/** Reads the messages that the arrivals reply or react to or change, if we sent them. */
async function sentMessages(db: Db, arrivals: readonly Arrival[]): Promise<FindSent> {
  const named = arrivals.flatMap(({ item, destination: { senderId } }) =>
    [item.quotedWaMessageId, item.reaction?.wa_message_id ?? null, changedMessageOf(item)].flatMap((waMessageId) =>
      waMessageId === null ? [] : [{ senderId, waMessageId }],
    ),
  )
  const sent = named.length === 0 ? [] : await findSentMessages(db, named)
  const byKey = new Map(sent.map((message) => [keyOf(message.senderId, message.waMessageId), message]))
  return ({ senderId }, waMessageId) => byKey.get(keyOf(senderId, waMessageId)) ?? null
}

/** Finds the messages that edits and deletions are about: sent, received, or in the same batch. */
async function changedMessages(db: Db, rows: readonly InboundRow[], sent: FindSent): Promise<FindSent> {
  const named = rows.flatMap(({ senderId, content, quotedWaMessageId: waMessageId }) =>
    waMessageId !== null && ('edit' in content || 'deletion' in content) ? [{ senderId, waMessageId }] : [],
  )
  if (named.length === 0) return sent
  const received = [...rows, ...(await findReceivedMessages(db, named))]
  const byKey = new Map(received.map(({ senderId, waMessageId, id }) => [keyOf(senderId, waMessageId), id]))
  return (destination, waMessageId) => {
    const id = byKey.get(keyOf(destination.senderId, waMessageId))
    return sent(destination, waMessageId) ?? (id === undefined ? null : { id, templateId: null })
  }
}

export const keyOf = (senderId: string, waMessageId: string | null): string => `${senderId} ${waMessageId}`

export function toRow(
  item: InboundItem | EchoItem,
  { workspaceId, senderId }: Destination,
  now: Date,
  { status = null, id = newUuid(now.getTime()) }: { status?: string | null; id?: string | undefined } = {},
): InboundRow {
  const { text, reply, media, mediaSource, location, contacts, form, order, error } = item
  const { username, groupId, forwarded, reaction, edit, deletion, referral, referredProduct, unsupported } = item
  return {
    id,
    workspaceId,
    senderId,
    waMessageId: item.waMessageId,
    sentBy: item.from,
    sentByUserId: item.fromUserId,
    profileName: item.profileName,
    type: item.type,
    receivedAt: item.receivedAt,
    quotedWaMessageId: changedMessageOf(item) ?? item.quotedWaMessageId,
    content: withoutNulls({
      text,
      reply,
      media,
      mediaSource,
      location,
      form: form && withoutSources(form),
      contacts,
      order,
      username,
      groupId,
      forwarded: forwarded || null,
      reaction,
      edit,
      deletion,
      referral,
      referredProduct,
      unsupported,
      error,
      parentUserId: item.fromParentUserId,
      standby: item.standby || null,
      status,
    }),
    source: item.kind === 'echo' ? item.source : null,
  }
}

/** Removes the URLs and keys of the files: only the download needs them. */
const withoutSources = (form: FormSubmission) => ({
  ...form,
  files: form.files.map(({ field, index, file_name, mime_type }) => ({ field, index, file_name, mime_type })),
})

function withoutNulls(parts: Record<string, unknown>): object {
  const present: Record<string, unknown> = {}
  for (const name in parts) if (parts[name] !== null) present[name] = parts[name]
  return present
}

/** Where this service serves the file of a message. */
export const mediaUrl = (publicUrl: string, messageId: string): string =>
  `${publicUrl}/v1/inbound_messages/${withPrefix('msg', messageId)}/media`

/** The data of the event. All fields are always present. */
function toData(
  item: InboundItem | EchoItem,
  destination: Destination,
  id: string,
  { sent, changed }: { sent: FindSent; changed: FindSent },
  publicUrl: string,
): InboundMessage {
  const idOf = (waMessageId: string | null, find = sent) => {
    const message = find(destination, waMessageId)
    return message && withPrefix('msg', message.id)
  }
  return {
    message_id: withPrefix('msg', id),
    wa_message_id: item.waMessageId,
    from: item.from,
    from_user_id: item.fromUserId,
    from_parent_user_id: item.fromParentUserId,
    profile_name: item.profileName,
    sender_id: withPrefix('snd', destination.senderId),
    type: item.type,
    text: item.text,
    received_at: item.receivedAt.toISOString(),
    in_reply_to:
      item.quotedWaMessageId === null
        ? null
        : { wa_message_id: item.quotedWaMessageId, message_id: idOf(item.quotedWaMessageId) },
    reply: item.reply,
    media: item.media && { ...item.media, url: mediaUrl(publicUrl, id) },
    location: item.location,
    username: item.username,
    group_id: item.groupId,
    forwarded: item.forwarded,
    contacts: item.contacts,
    order: item.order && toInboundOrder(item.order),
    reaction: item.reaction && { ...item.reaction, message_id: idOf(item.reaction.wa_message_id) },
    referral: item.referral,
    referred_product: item.referredProduct,
    edit: item.edit && { ...item.edit, message_id: idOf(item.edit.wa_message_id, changed) },
    deletion: item.deletion && { ...item.deletion, message_id: idOf(item.deletion.wa_message_id, changed) },
    unsupported: item.unsupported,
    standby: item.standby,
  }
}

function toEchoData(data: InboundMessage, { source }: EchoItem): EchoedMessage {
  const { from: to, from_user_id: to_user_id, from_parent_user_id: to_parent_user_id, ...rest } = data
  return { ...rest, to, to_user_id, to_parent_user_id, source }
}
