import { readId, readObject } from '../read-json.ts'
import { fieldReaders, isForWhatsApp, readAccountId, readNumberId } from './incoming.ts'
import { partsOf } from './raw-json.ts'

/** One change as a separate webhook that `readWebhook` accepts, with everything as it arrived. */
export interface SplitChange {
  /** Its position, as in `UnreadChange`. */
  entry: number | null
  change: number | null
  field: string | null
  wabaId: string | null
  /** The number that its messages belong to. Null for a notice. */
  phoneNumberId: string | null
  webhook: string
}

/** Splits a webhook into its changes. An entry without a list of changes, and what is no webhook of WhatsApp, are one part. */
export function splitWebhook(text: string): SplitChange[] {
  const body = readObject(JSON.parse(text))
  const whole = { entry: null, change: null, field: null, wabaId: null, phoneNumberId: null, webhook: text }
  if (!isForWhatsApp(body)) return [whole]
  const parts = partsOf(text)
  const entryTexts = [...partsOf(parts.get('entry') ?? '').values()]
  return body.entry.flatMap((each, entry): SplitChange[] => {
    const parsed = readObject(each)
    const wabaId = readId(parsed?.id)
    const entryText = entryTexts[entry] ?? ''
    const webhookWith = (one: string) => objectOf(parts, 'entry', `[${one}]`)
    if (!Array.isArray(parsed?.changes)) {
      return [{ ...whole, entry, wabaId, webhook: webhookWith(entryText) }]
    }
    const entryParts = partsOf(entryText)
    const changeTexts = [...partsOf(entryParts.get('changes') ?? '').values()]
    return parsed.changes.map((item, change) => {
      const field = readId(readObject(item)?.field, 128)
      const value = readObject(readObject(item)?.value) ?? {}
      const isNotice = fieldReaders.get(field ?? '')?.isNotice === true
      return {
        entry,
        change,
        field,
        wabaId: isNotice ? (readAccountId(value) ?? wabaId) : wabaId,
        phoneNumberId: isNotice ? null : readNumberId(value),
        webhook: webhookWith(objectOf(entryParts, 'changes', `[${changeTexts[change]}]`)),
      }
    })
  })
}

/** The part of a webhook with one change that a network update shows: the value, or else the enclosing part. */
export function valueIn(webhook: string): string {
  const [entry] = partsOf(partsOf(webhook).get('entry') ?? '').values()
  if (entry === undefined) return webhook
  const [change] = partsOf(partsOf(entry).get('changes') ?? '').values()
  if (change === undefined) return entry
  return partsOf(change).get('value') ?? change
}

/** The object with one member replaced. */
const objectOf = (parts: ReadonlyMap<string, string>, name: string, value: string): string =>
  `{${[...new Map(parts).set(name, value)].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`
