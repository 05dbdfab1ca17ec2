import type { Json } from '../json.ts'
import { refuseParameter } from '../network/errors.ts'
import type { Call } from './call.ts'

/** `fields=a,b{c}` as a list of names; what is inside braces belongs to the object named before them. */
export function requestedFields(call: Call): string[] | undefined {
  const text = call.query.fields
  if (text === undefined || text === '') return undefined
  return text
    .replaceAll(/\{[^}]*\}|\.[a-z_]+\([^)]*\)/g, '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** An object as Graph answers it: the asked-for fields in the order asked, and always the id. */
export function pick(object: Json, fields: string[]): Json {
  const picked: Json = {}
  for (const name of fields) {
    if (!Object.hasOwn(object, name)) refuseParameter(`Tried accessing nonexisting field (${name}) on node type`)
    if (object[name] !== undefined) picked[name] = object[name]
  }
  picked.id = object.id
  return picked
}

interface Page {
  data: Json[]
  paging?: { cursors: { before: string; after: string }; next?: string; previous?: string }
}

const defaultLimit = 25
const largestLimit = 1000

/** One page of a list. A cursor names the row it points at, so rows added meanwhile shift nothing. */
export function pageOf(call: Call, path: string, rows: Json[]): Page {
  const limit = limitOf(call)
  const after = placeOf(rows, call.query.after, 'after')
  const before = placeOf(rows, call.query.before, 'before')
  const start = after === undefined ? Math.max(0, (before ?? 0) - limit) : after + 1
  const end = before === undefined ? start + limit : before
  const data = rows.slice(start, end)
  const [first] = data
  const last = data.at(-1)
  if (!first || !last) return { data: [] }
  const cursors = { before: cursorOf(first), after: cursorOf(last) }
  const link = (name: string, cursor: string) => linkTo(call, path, limit, name, cursor)
  return {
    data,
    paging: {
      cursors,
      ...(end < rows.length ? { next: link('after', cursors.after) } : {}),
      ...(start > 0 ? { previous: link('before', cursors.before) } : {}),
    },
  }
}

function limitOf(call: Call): number {
  if (call.query.limit === undefined) return defaultLimit
  const limit = Number(call.query.limit)
  if (!Number.isInteger(limit) || limit < 1) return refuseParameter('Param limit must be a positive integer.')
  return Math.min(limit, largestLimit)
}

function cursorOf(row: Json): string {
  return Buffer.from(`QV:${String(row.id)}`).toString('base64url')
}

function placeOf(rows: Json[], cursor: string | undefined, name: string): number | undefined {
  if (cursor === undefined || cursor === '') return undefined
  const place = rows.findIndex((row) => cursorOf(row) === cursor)
  return place < 0 ? refuseParameter(`Invalid cursors values: ${name}`) : place
}

function linkTo(call: Call, path: string, limit: number, name: string, cursor: string): string {
  const url = new URL(`${call.network.url}/${call.version}/${path}`)
  for (const [key, value] of Object.entries(call.query))
    if (!['after', 'before', 'limit', 'access_token'].includes(key)) url.searchParams.set(key, value)
  url.searchParams.set('limit', String(limit))
  url.searchParams.set(name, cursor)
  return url.href
}
