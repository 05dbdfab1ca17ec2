import type { Json } from '../json.ts'
import { refuseParameter } from '../network/errors.ts'
import type { Call } from './call.ts'

/** Parses `fields=a,b{c}` into names. Nested fields in braces are ignored. */
export function requestedFields(call: Call): string[] | undefined {
  const text = call.query.fields
  if (text === undefined || text === '') return undefined
  return text
    .replaceAll(/\{[^}]*\}|\.[a-z_]+\([^)]*\)/g, '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** The requested fields in the requested order, and always the ID. */
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
const maxLimit = 1000

/** One page of a list. A cursor identifies a row, so new rows do not shift the pages. */
export function pageOf(call: Call, path: string, rows: Json[]): Page {
  const limit = limitOf(call)
  const after = rowIndex(rows, call.query.after, 'after')
  const before = rowIndex(rows, call.query.before, 'before')
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
  return Math.min(limit, maxLimit)
}

function cursorOf(row: Json): string {
  return Buffer.from(`QV:${String(row.id)}`).toString('base64url')
}

function rowIndex(rows: Json[], cursor: string | undefined, name: string): number | undefined {
  if (cursor === undefined || cursor === '') return undefined
  const index = rows.findIndex((row) => cursorOf(row) === cursor)
  return index < 0 ? refuseParameter(`Invalid cursors values: ${name}`) : index
}

function linkTo(call: Call, path: string, limit: number, name: string, cursor: string): string {
  const url = new URL(`${call.network.url}/${call.version}/${path}`)
  for (const [key, value] of Object.entries(call.query))
    if (!['after', 'before', 'limit', 'access_token'].includes(key)) url.searchParams.set(key, value)
  url.searchParams.set('limit', String(limit))
  url.searchParams.set(name, cursor)
  return url.href
}
