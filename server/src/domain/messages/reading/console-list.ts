/** The console's list of sent and received messages. */
import { valuesOf } from '@parley/contract/console/list'
import type { ListedMessage, MessageFilters } from '@parley/contract/console/messages'
import type { MessageStatus } from '@parley/contract/message'
import { boundedTotal } from '../../../db/bounded-total.ts'
import type { Db } from '../../../db/db.ts'
import type { PagedList } from '../../../db/paged-list.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { isUserId } from '../../../whatsapp/incoming/user-id.ts'
import { filledBody } from '../../../whatsapp/outgoing/placeholders.ts'
import { fileStatesOf } from '../../files/files.ts'
import { contactNames, findTexts } from '../../search/find.ts'
import { findUsedTemplates } from '../../templates/templates.ts'
import { messageIdsOf } from '../by-network-id.ts'
import {
  countMessages,
  type MessageListRow,
  type MessageSearch,
  previewLength,
  selectMessages,
} from './console-list.sql.ts'

/** A message in a list, with the name and the components of its template, and the state of its file. */
export type ListedRow = MessageListRow & {
  template_name: string | null
  components: unknown[] | null
  contact_name: string | null
  file: ListedMessage['file']
}

/** Sent and received messages that match any of the searches. */
export async function searchMessages(
  db: Db,
  workspaceId: string,
  searches: readonly MessageSearch[],
  page: KeySet,
): Promise<ListedRow[]> {
  const rows = await selectMessages(db, workspaceId, searches, page)
  return withParts(db, workspaceId, rows)
}

/** Adds what other tables have about each message. */
export async function withParts<Row extends MessageListRow>(
  db: Db,
  workspaceId: string,
  rows: readonly Row[],
): Promise<(Row & Pick<ListedRow, 'template_name' | 'components' | 'contact_name' | 'file'>)[]> {
  const ids = rows.flatMap((row) => row.template_id ?? [])
  const templates = await findUsedTemplates(db, workspaceId, [...new Set(ids)])
  const received = rows.filter((row) => isInbound(row) && mayHaveFile.has(row.type)).map(({ id }) => id)
  const files = await fileStatesOf(db, workspaceId, received)
  const contacts = await contactNames(db, workspaceId, rows.map(personOf))
  return rows.map((row) => {
    const { name = null, components = null } = templates.get(row.template_id ?? '') ?? {}
    const contact_name = contacts.get(personOf(row)) ?? null
    return { ...row, template_name: name, components, contact_name, file: files.get(row.id) ?? null }
  })
}

/** A contact is their number, or their user ID without one. */
const personOf = ({ phone, user_id }: MessageListRow): string | null => phone ?? user_id

/** A message of a contact, or a message that the business wrote elsewhere. Both are stored as inbound messages. */
export const isInbound = ({ direction, source }: MessageListRow): boolean => direction === 'received' || source !== null

const mayHaveFile = new Set(['image', 'video', 'audio', 'document', 'sticker'])

export const listedMessages: PagedList<MessageFilters, ListedRow, ListedMessage> = {
  rows: async (db, workspaceId, filters, page) =>
    searchMessages(db, workspaceId, await searchesOf(db, workspaceId, filters), page),
  async total(db, workspaceId, filters) {
    const searches = await searchesOf(db, workspaceId, filters)
    return boundedTotal(db, (tx, atMost) => countMessages(tx, workspaceId, searches, atMost))
  },
  toItem: (row) => toListed(row),
  head: [
    ...['time', 'id', 'direction', 'status', 'type', 'phone', 'user_id', 'name', 'sender_id', 'template', 'text'],
    ...['reference', 'error'],
  ],
  toLines: ({ at, id, direction, status, type, phone, user_id, contact_name, sender_id, ...message }) => [
    [
      ...[at, id, direction, status, type, phone, user_id, contact_name, sender_id, message.template_name],
      ...[message.preview, message.reference, message.error],
    ],
  ],
}

/** Each value of a filter that has an index is a search of its own, up to this many. */
const searchesMax = 24

export async function searchesOf(db: Db, workspaceId: string, query: MessageFilters): Promise<MessageSearch[]> {
  const filters: MessageSearch = {
    direction: query.direction,
    types: valuesOf(query.type),
    phone: query.phone?.replace(/^\+/, ''),
    userId: query.user_id,
    from: query.from === undefined ? undefined : new Date(query.from),
    to: query.to === undefined ? undefined : new Date(query.to),
  }
  const only = filters.phone ?? filters.userId
  const found = query.q === undefined ? [{}] : await searchesFor(db, workspaceId, query.q)
  const bases = found
    .filter(({ phone, userId }) => only === undefined || (phone ?? userId ?? only) === only)
    .map((search) => ({ ...filters, ...search }))
  const senders = valuesOf(query.sender)?.flatMap((id) => withoutPrefix('snd', id) ?? [])
  const templates = valuesOf(query.template)?.flatMap((id) => withoutPrefix('tpl', id) ?? [])
  const byStatus = each(bases, valuesOf<MessageStatus>(query.status), (status) => ({ status }))
  const bySender =
    byStatus.length * (senders?.length ?? 1) > searchesMax
      ? byStatus.map((search) => ({ ...search, senderIds: senders }))
      : each(byStatus, senders, (senderId) => ({ senderId }))
  return bySender.length * (templates?.length ?? 1) > searchesMax
    ? bySender.map((search) => ({ ...search, templateIds: templates }))
    : each(bySender, templates, (templateId) => ({ templateId }))
}

const each = <Value>(
  searches: readonly MessageSearch[],
  values: readonly Value[] | undefined,
  condition: (value: Value) => MessageSearch,
): MessageSearch[] =>
  values === undefined
    ? [...searches]
    : searches.flatMap((search) => values.map((value) => ({ ...search, ...condition(value) })))

/** A message by its ID, WhatsApp's ID or its reference, as lists show it. */
export const messagesNamed = async (db: Db, workspaceId: string, name: string, page: KeySet): Promise<ListedRow[]> =>
  searchMessages(db, workspaceId, (await searchById(db, workspaceId, name)) ?? [{ reference: name }], page)

/** Null if the text is no ID of a message. */
async function searchById(db: Db, workspaceId: string, text: string): Promise<MessageSearch[] | null> {
  const uuid = withoutPrefix('msg', text.toLowerCase()) ?? (isUuid(text.toLowerCase()) ? text.toLowerCase() : undefined)
  if (uuid !== undefined) return [{ ids: [uuid] }]
  return text.startsWith('wamid.') ? [{ ids: await messageIdsOf(db, workspaceId, text) }] : null
}

/** How many messages with the words are found in each direction, and how many contacts. The newest of them. */
const wordsMax = 100
const peopleMax = 5
/** From so many digits on, a number has its country code. It is looked up, and not searched for. */
const wholeNumber = 11

/**
 * What a search text can be: an ID of a message, a contact's number, user ID or name, a reference, or words. Names and words are
 * found by the search of the whole console.
 */
async function searchesFor(db: Db, workspaceId: string, typed: string): Promise<MessageSearch[]> {
  const text = typed.trim()
  // PostgreSQL cannot store NUL.
  if (text === '' || text.includes('\0')) return []
  const byId = await searchById(db, workspaceId, text)
  if (byId) return byId
  const digits = text.replaceAll(/[\s().+-]/g, '')
  const exact = isUserId(text) ? [text] : /^[1-9]\d{4,19}$/.test(digits) ? [digits] : []
  const isWhole = exact.some((person) => person.length >= wholeNumber)
  const searched = { workspaceId, q: text, kinds: ['message', 'inbound'] as const, contacts: true, take: wordsMax }
  const { objects, contacts } = isWhole ? { objects: [], contacts: [] } : await findTexts(db, searched)
  const named = contacts.slice(0, peopleMax).flatMap(({ number, userId }) => number ?? userId ?? [])
  const people = [...new Set([...exact, ...named])]
  const ids = objects.map(({ id }) => id)
  return [
    ...(ids.length === 0 ? [] : [{ ids }]),
    ...people.map((person) => ({ ...(isUserId(person) ? { userId: person } : { phone: person }), notIds: ids })),
    { reference: text, notIds: ids, notPeople: people },
  ]
}

export function toListed({ components, variables, content_removed_at, is_erased, ...row }: ListedRow): ListedMessage {
  const filled = components && !content_removed_at ? filledBody(components, variables ?? {}) : null
  return {
    ...row,
    preview: filled?.slice(0, previewLength) ?? row.preview,
    id: withPrefix('msg', row.id),
    at: row.at.toISOString(),
    sender_id: withPrefix('snd', row.sender_id),
    template_id: row.template_id && withPrefix('tpl', row.template_id),
    removed: content_removed_at && {
      at: content_removed_at.toISOString(),
      why: is_erased ? 'erasure' : 'retention',
    },
  }
}
