/** Whether people want marketing messages from a number. They choose it in WhatsApp. */
import type { Db } from '../../db/db.ts'
import { refuse } from '../../lib/refuse.ts'
import type { PreferenceItem } from '../../whatsapp/incoming-preference.ts'
import { latestPreference, type Preference, upsertPreferences } from './preferences.sql.ts'
import type { Destination } from './senders.ts'

/** Stores what people chose. Of several choices of a person for a number, the latest counts. */
export async function savePreferences(
  db: Db,
  chosen: readonly { item: PreferenceItem; destination: Destination }[],
): Promise<void> {
  const latest = new Map<string, Preference>()
  for (const { item, destination } of chosen) {
    const { person, userId, marketing, occurredAt: changedAt } = item
    const { senderId, workspaceId } = destination
    const key = `${senderId} ${person}`
    const earlier = latest.get(key)
    // The network's times are whole seconds: of two choices in the same second, the one that came last counts.
    if (earlier && earlier.changedAt > changedAt) continue
    latest.set(key, {
      senderId,
      workspaceId,
      person,
      userId: userId ?? earlier?.userId ?? null,
      marketing,
      changedAt,
    })
  }
  if (latest.size > 0) await upsertPreferences(db, [...latest.values()])
}

/** Refuses a marketing message to a person, named by number or user IDs, who does not want any from this number. */
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
