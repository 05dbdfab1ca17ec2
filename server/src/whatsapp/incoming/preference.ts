/** Whether people want marketing messages of a number. They choose it in WhatsApp. */

import { type JsonObject, readArray, readId, readObject, readPhone, readTime } from '../read-json.ts'
import { type Change, readEach, type WebhookSource } from './unread.ts'

export interface PreferenceItem extends WebhookSource {
  kind: 'preference'
  /** The person's number, or their user ID if the number is withheld. */
  person: string
  userId: string | null
  marketing: 'stop' | 'resume'
  occurredAt: Date
}

const choices: ReadonlyMap<string | null, PreferenceItem['marketing']> = new Map([
  ['stop', 'stop'],
  ['resume', 'resume'],
  ['signup', 'resume'],
])

export function readPreferences({ value, wabaId, phoneNumberId, now, unread }: Change): PreferenceItem[] {
  if (phoneNumberId === null) return []
  const source: WebhookSource = { wabaId, phoneNumberId }
  const contacts = readArray(value.contacts).map(readObject)
  // A webhook about one person may name their user ID only among the contacts.
  const only = readArray(value.user_preferences).length === 1 && contacts.length === 1 ? contacts[0] : undefined
  return readEach(value, 'user_preferences', unread, (each) => {
    const item = readObject(each)
    const phone = readPhone(item?.wa_id)
    const contact = only ?? contacts.find((each) => phone !== null && readPhone(each?.wa_id) === phone)
    return readPreference(item, contact ?? null, source, now)
  })
}

function readPreference(
  item: JsonObject | null,
  contact: JsonObject | null,
  source: WebhookSource,
  now: Date,
): PreferenceItem | null {
  const phone = readPhone(item?.wa_id)
  const userId = readId(item?.user_id) ?? readId(contact?.user_id)
  const person = phone ?? userId
  const marketing = choices.get(readId(item?.value, 64)?.toLowerCase() ?? null)
  const category = readId(item?.category, 64)
  if (item === null || person === null || marketing === undefined || category !== 'marketing_messages') {
    return null
  }
  return { kind: 'preference', ...source, person, userId, marketing, occurredAt: readTime(item.timestamp) ?? now }
}
