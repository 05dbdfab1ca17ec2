import { isObject, type Json } from '../json.ts'

/** One update for an app: a message, a status, or a change of another webhook field. */
export interface Update {
  appId: string
  wabaId: string
  /** The business number; null for an update about the account. */
  numberId: string | null
  field: string
  value: unknown
  /** Unix seconds; sent only for an update about the account. */
  time: number
  /** Post it a second time after it was accepted. */
  twice: boolean
}

/** The body of one POST: an entry per account and a change per number, with its messages and statuses merged. */
export function envelope(updates: Update[]): Json {
  const entries = new Map<string, Json & { changes: Json[] }>()
  const merged = new Map<string, Json>()
  for (const update of updates) {
    const { wabaId, numberId, field, time, value } = update
    const entryKey = numberId === null ? `${wabaId} ${time}` : wabaId
    let entry = entries.get(entryKey)
    if (!entry) {
      entry = { id: wabaId, ...(numberId === null ? { time } : {}), changes: [] }
      entries.set(entryKey, entry)
    }
    if (field !== 'messages' || numberId === null || !isObject(value)) {
      entry.changes.push({ value, field })
      continue
    }
    const changeKey = `${wabaId} ${numberId}`
    const open = merged.get(changeKey)
    if (open) mergeInto(open, value)
    else {
      const copy = copyLists(value)
      entry.changes.push({ value: copy, field })
      merged.set(changeKey, copy)
    }
  }
  return { object: 'whatsapp_business_account', entry: [...entries.values()] }
}

const lists = ['contacts', 'messages', 'statuses', 'errors'] as const

function copyLists(value: Json): Json {
  const copy = { ...value }
  for (const name of lists) if (Array.isArray(copy[name])) copy[name] = [...copy[name]]
  return copy
}

function mergeInto(open: Json, value: Json): void {
  for (const name of lists) {
    const added = value[name]
    if (!Array.isArray(added)) continue
    const present = Array.isArray(open[name]) ? open[name] : []
    const fresh = name === 'contacts' ? added.filter((contact) => !present.some((p) => sameContact(p, contact))) : added
    open[name] = [...present, ...fresh]
  }
}

function sameContact(a: unknown, b: unknown): boolean {
  return isObject(a) && isObject(b) && JSON.stringify(a) === JSON.stringify(b)
}
