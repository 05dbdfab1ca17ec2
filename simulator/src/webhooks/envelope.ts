import { isObject, type Json } from '../json.ts'

/** One update for an app: a message, a status, or a change of another webhook field. */
export interface Update {
  appId: string
  wabaId: string
  /** The business number; null for an update about the account. */
  numberId: string | null
  field: string
  value: Json
  /** Unix seconds; sent only for fields other than `messages`. */
  time: number
  /** Post it a second time after it was accepted. */
  twice: boolean
}

/** The body of one POST: an entry per account and a change per number, with its messages and statuses merged. */
export function envelope(updates: Update[]): Json {
  const entries = new Map<string, Json & { changes: Json[] }>()
  const merged = new Map<string, Json>()
  for (const update of updates) {
    const isMessages = update.field === 'messages'
    const entryKey = isMessages ? update.wabaId : `${update.wabaId} ${update.time}`
    let entry = entries.get(entryKey)
    if (!entry) {
      entry = { id: update.wabaId, ...(isMessages ? {} : { time: update.time }), changes: [] }
      entries.set(entryKey, entry)
    }
    const changeKey = `${update.wabaId} ${update.numberId}`
    const open = isMessages ? merged.get(changeKey) : undefined
    if (open) {
      mergeInto(open, update.value)
      continue
    }
    const value = isMessages ? copyLists(update.value) : update.value
    entry.changes.push({ value, field: update.field })
    if (isMessages) merged.set(changeKey, value)
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
