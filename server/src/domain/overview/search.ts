import type { SearchKind, SearchResult, SearchResults } from '@parley/contract/console/overview'
import { can, type Permission } from '@parley/contract/console/permissions'
import { isUuid, withPrefix } from '../../lib/ids.ts'
import { isUserId } from '../../whatsapp/incoming/user-id.ts'
import { messageIdsOf } from '../messages/by-network-id.ts'
import { excerptOf } from '../search/excerpt.ts'
import { contactNames, type FoundTexts, findTexts, type Person, type SearchLimits } from '../search/find.ts'
import type { Viewer } from './overview.ts'
import { type FoundRow, foundById, foundByName, foundByPerson, foundByReference } from './search.sql.ts'

type Kind = FoundRow['kind']

/** For each kind: its name in results, ID prefix, required permission and path in the console. */
const kinds: Record<Kind, { as: SearchKind; prefix: string | null; needs: Permission; path(id: string): string }> = {
  message: { as: 'message', prefix: 'msg', needs: 'messages:read', path: (id) => `messages/${id}` },
  inbound: { as: 'message', prefix: 'msg', needs: 'messages:read', path: (id) => `messages/${id}` },
  sender: { as: 'sender', prefix: 'snd', needs: 'senders:read', path: (id) => `senders/${id}` },
  template: { as: 'template', prefix: 'tpl', needs: 'templates:read', path: (id) => `templates/${id}` },
  webhook: { as: 'webhook', prefix: 'whk', needs: 'webhooks:read', path: (id) => `webhooks/${id}` },
  form: { as: 'form', prefix: 'frs', needs: 'forms:read', path: (id) => `forms/${id}` },
  order: { as: 'order', prefix: 'ord', needs: 'orders:read', path: (id) => `orders/${id}` },
  request: { as: 'request', prefix: 'req', needs: 'requests:read', path: (id) => `requests?open=${id}` },
  key: { as: 'key', prefix: null, needs: 'keys:read', path: (id) => `keys?open=${id}` },
  event: { as: 'event', prefix: null, needs: 'deliveries:read', path: (id) => `deliveries?event=${id}` },
}

const everyKind = Object.keys(kinds) as Kind[]
const maxPerKind = 5

/**
 * Searches by ID, phone number, user ID, name, reference or content, limited to what the viewer's role may see. An ID has one
 * result, so nothing else is searched for it.
 */
export async function search(viewer: Viewer, text: string, limits?: SearchLimits): Promise<SearchResults> {
  const { db, workspaceId, role } = viewer
  const q = text.trim()
  const isAllowed = (kind: Kind) => can(role, kinds[kind].needs)
  const uuid = uuidIn(q)
  if (uuid !== null) {
    const candidates = everyKind.filter((kind) => isAllowed(kind) && matchesPrefix(kind, q))
    return toResults(await foundByIds(viewer, [uuid], candidates))
  }
  if (q.startsWith('wamid.')) {
    const ids = isAllowed('message') ? await messageIdsOf(db, workspaceId, q) : []
    return toResults(await foundByIds(viewer, ids.slice(0, maxPerKind), ['message', 'inbound']))
  }
  if (q === '') return toResults([])
  const number = numberIn(q)
  const person = isUserId(q) ? q : number
  const exact = person !== null && isAllowed('message') ? await findPerson(viewer, person) : []
  const names = (['sender', 'template', 'webhook', 'key'] as const).filter(isAllowed)
  const searches = names.map((kind) => {
    // Only numbers of senders are stored without signs.
    const name = kind === 'sender' ? (number ?? q) : q
    return foundByName(db, workspaceId, kind, name, maxPerKind)
  })
  if (isAllowed('message')) searches.push(foundByReference(db, workspaceId, q, maxPerKind))
  const rows = (await Promise.all(searches)).flat()
  const textKinds = (['message', 'inbound', 'order', 'form'] as const).filter(isAllowed)
  const searched = { workspaceId, q, kinds: textKinds, contacts: isAllowed('message'), take: maxPerKind }
  const texts = await findTexts(db, searched, limits)
  const contacts = texts.contacts.map((contact) => toContact(workspaceId, contact))
  const people = await contactNames(db, workspaceId, texts.objects.map(personIn))
  const withText = texts.objects.map((object) => toFoundRow(object, people.get(personIn(object)) ?? object.name, q))
  const all = [...exact, ...contacts, ...[...rows, ...withText].map((row) => toResult(workspaceId, row))]
  return { ...toResults(all), has_more: texts.hasMore, timed_out: texts.timedOut }
}

async function foundByIds({ db, workspaceId }: Viewer, ids: readonly string[], of: readonly Kind[]) {
  const rows = await Promise.all(ids.flatMap((id) => of.map((kind) => foundById(db, workspaceId, kind, id))))
  return rows.flatMap((row) => (row === undefined ? [] : [toResult(workspaceId, row)]))
}

const personIn = ({ number, userId }: Person): string | null => number ?? userId

function toFoundRow(object: FoundTexts['objects'][number], name: string | null, q: string): FoundRow {
  const { kind, id, title, number, userId, text } = object
  const who = name ?? (number === null ? (userId ?? 'an unknown contact') : `+${number}`)
  return { kind, id, title: `${title} ${who}`, detail: excerptOf(text, q) }
}

/** Each result once, grouped by kind. */
function toResults(results: readonly SearchResult[]): SearchResults {
  const seen = new Set<string>()
  const data = results.filter(({ kind, id }) => {
    const name = `${kind} ${id}`
    return !seen.has(name) && seen.add(name)
  })
  data.sort((left, right) => groups.indexOf(left.kind) - groups.indexOf(right.kind))
  return { object: 'list', data, has_more: false, timed_out: false }
}

const groups: readonly SearchKind[] = [
  ...(['contact', 'message', 'event', 'order', 'form', 'request'] as const),
  ...(['sender', 'template', 'webhook', 'key'] as const),
]

/** A result for the phone number or user ID, and its latest messages in both directions. */
async function findPerson({ db, workspaceId }: Viewer, person: string): Promise<SearchResult[]> {
  const [sent, received] = await Promise.all([
    foundByPerson(db, workspaceId, 'message', person, 2),
    foundByPerson(db, workspaceId, 'inbound', person, 2),
  ])
  if (sent.length + received.length === 0) return []
  const name = (await contactNames(db, workspaceId, [person])).get(person) ?? null
  const all = toContact(
    workspaceId,
    isUserId(person) ? { number: null, userId: person, name } : { number: person, userId: null, name },
  )
  return [all, ...[...sent, ...received].map((row) => toResult(workspaceId, row))]
}

function toContact(workspaceId: string, { number, userId, name }: Person): SearchResult {
  const id = number ?? userId ?? ''
  const shown = number === null ? id : `+${number}`
  return {
    kind: 'contact',
    id,
    title: name ?? shown,
    detail: name === null ? 'Conversation' : shown,
    href: `/w/${workspaceId}/contacts/${encodeURIComponent(id)}`,
  }
}

function toResult(workspaceId: string, { kind, id, title, detail }: FoundRow): SearchResult {
  const { as, prefix, path } = kinds[kind]
  const publicId = prefix === null ? id : withPrefix(prefix, id)
  return {
    kind: as,
    id: publicId,
    title,
    detail: detail === '' ? publicId : detail,
    href: `/w/${workspaceId}/${path(publicId)}`,
  }
}

/** The UUID of an ID, with or without its prefix. */
function uuidIn(q: string): string | null {
  const uuid = q.toLowerCase().replace(/^[a-z]{3}_/, '')
  return isUuid(uuid) ? uuid : null
}

function matchesPrefix(kind: Kind, q: string): boolean {
  const prefix = /^([a-z]{3})_/.exec(q.toLowerCase())?.[1]
  return prefix === undefined || prefix === kinds[kind].prefix
}

/** The digits of a phone number; null if the text does not look like one. */
function numberIn(q: string): string | null {
  if (!/^\+?[\d\s().-]+$/.test(q)) return null
  const digits = q.replaceAll(/\D/g, '')
  return digits.length >= 5 && digits.length <= 20 ? digits : null
}
