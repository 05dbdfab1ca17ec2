/** Whether people want marketing messages from a number. They choose it in WhatsApp. */
import type { ContactPreferenceData } from '@parley/contract/service-events'
import type { Db } from '../../db/db.ts'
import { withPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import type { PreferenceItem } from '../../whatsapp/incoming/preference.ts'
import { publish } from '../deliveries/engine/publish/publish.ts'
import { latestPreferences, type Preference, updateRepeatedPreferences, upsertPreferences } from './preferences.sql.ts'
import type { Destination } from './senders.ts'

export { deletePreferencesOf, preferencesOf } from './preferences.sql.ts'

/**
 * Stores what people chose and publishes what changed, in the transaction of the caller. Of several choices of a person for
 * a number, the latest counts; of two in the same second, "stop".
 */
export async function savePreferences(
  db: Db,
  now: Date,
  chosen: readonly { item: PreferenceItem; destination: Destination }[],
): Promise<void> {
  const latest = new Map<string, Preference>()
  for (const { item, destination } of chosen) {
    const { person, userId, marketing, occurredAt: changedAt } = item
    const { senderId, workspaceId } = destination
    const key = `${senderId} ${person}`
    const earlier = latest.get(key)
    const known = userId ?? earlier?.userId ?? null
    if (earlier && !replaces({ marketing, changedAt }, earlier)) earlier.userId = known
    else latest.set(key, { senderId, workspaceId, person, userId: known, marketing, changedAt })
  }
  const preferences = [...latest.values()]
  if (preferences.length === 0) return
  const changed = await upsertPreferences(db, { preferences })
  await updateRepeatedPreferences(db, { preferences })
  const type = 'contact.preference_changed' as const
  const events = changed.flatMap(({ senderId, person, userId }) => {
    const preference = latest.get(`${senderId} ${person}`)
    return preference ? [{ workspaceId: preference.workspaceId, type, data: toData({ ...preference, userId }) }] : []
  })
  await publish(db, now, events)
}

/**
 * The network's times are whole seconds, and its webhooks come in any order. So which of two choices in the same second was the
 * last is unknown, and a person who does not want marketing messages must not get any.
 */
const replaces = (one: Choice, other: Choice): boolean =>
  one.changedAt > other.changedAt || (one.changedAt.getTime() === other.changedAt.getTime() && one.marketing === 'stop')

const toData = ({ senderId, person, userId, marketing }: Preference): ContactPreferenceData => ({
  // Without a number, the user ID names the person.
  from: person === userId ? null : person,
  from_user_id: userId,
  sender_id: withPrefix('snd', senderId),
  marketing,
})

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
  for (const { index, ...choice } of await latestPreferences(db, { wanted })) choices[index] = choice
  return choices
}

/** Refuses a marketing message to a person who does not want any from this number. */
export function requireMarketingAllowed(latest: Choice | undefined): void {
  if (latest?.marketing !== 'stop') return
  refuse('recipient_opted_out', { details: { opted_out_at: latest.changedAt.toISOString() } })
}
