/** Whether people want marketing messages from a number. They choose it in WhatsApp. */
import type { Db } from '../../db/db.ts'
import { refuse } from '../../lib/refuse.ts'
import type { PreferenceItem } from '../../whatsapp/incoming-preference.ts'
import { latestPreference, upsertPreference } from './preferences.sql.ts'
import { destinationsOf } from './senders.sql.ts'

/** False if the number is not connected through this app. */
export async function savePreference(db: Db, appId: string, item: PreferenceItem): Promise<boolean> {
  const { phoneNumberId, person, userId, marketing, occurredAt } = item
  const [destination] = await destinationsOf(db, [{ appId, phoneNumberId }])
  if (!destination?.senderId) return false
  const { senderId, workspaceId } = destination
  await upsertPreference(db, { senderId, workspaceId, person, userId, marketing, changedAt: occurredAt })
  return true
}

/** Refuses a marketing message to a person, named by number or user ID, who does not want any from this number. */
export async function requireMarketingAllowed(
  db: Db,
  workspaceId: string,
  senderId: string,
  person: readonly string[],
): Promise<void> {
  const latest = await latestPreference(db, workspaceId, senderId, person)
  if (latest?.marketing === 'stop') {
    refuse('recipient_opted_out', { details: { opted_out_at: latest.changedAt.toISOString() } })
  }
}
