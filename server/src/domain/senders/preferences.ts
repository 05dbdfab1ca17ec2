/** Whether people want marketing messages from a number. They choose it in WhatsApp. */
import type { Db } from '../../db/db.ts'
import { refuse } from '../../lib/refuse.ts'
import type { PreferenceItem } from '../../whatsapp/incoming-preference.ts'
import { latestPreferences, type Preference, upsertPreferences } from './preferences.sql.ts'
import type { Destination } from './senders.ts'

export { deletePreferencesOf, preferencesOf } from './preferences.sql.ts'

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

/** A person, named by number and user IDs, and a number that writes to them. */
export interface Addressed {
  workspaceId: string
  senderId: string
  personIds: readonly string[]
}

/** What a person chose last. */
export type Choice = Pick<Preference, 'marketing' | 'changedAt'>

/** The latest choices of people, in their order. */
export async function findChoices(db: Db, people: readonly Addressed[]): Promise<(Choice | undefined)[]> {
  const choices = people.map((): Choice | undefined => undefined)
  const wanted = people.flatMap(({ workspaceId, senderId, personIds }, index) =>
    personIds.map((person) => ({ index, workspaceId, senderId, person })),
  )
  for (const { index, ...choice } of await latestPreferences(db, wanted)) choices[index] = choice
  return choices
}

/** Refuses a marketing message to a person who does not want any from this number. */
export function requireMarketingAllowed(latest: Choice | undefined): void {
  if (latest?.marketing !== 'stop') return
  refuse('recipient_opted_out', { details: { opted_out_at: latest.changedAt.toISOString() } })
}
