import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'
import { type KnownPerson, personValues } from '../../whatsapp/incoming/split-by-person.ts'

export interface Preference {
  senderId: string
  workspaceId: string
  /** A phone number, or the network's user ID. */
  person: string
  userId: string | null
  marketing: 'stop' | 'resume'
  changedAt: Date
}

const preferenceColumns = {
  preferences: {
    senderId: 'uuid',
    workspaceId: 'uuid',
    person: 'text',
    userId: 'text',
    marketing: 'text',
    changedAt: 'timestamptz',
  },
} as const

/**
 * Stores at most one preference for each sender and person, and returns the preferences that changed. The network
 * repeats and reorders webhooks: an older preference does not replace a newer one, and of two of the same second,
 * "stop" wins. All of their rows are locked, even unchanged rows, so of concurrent calls only one returns a change.
 */
export const upsertPreferences = statement(
  preferenceColumns,
  ({ preferences }) => `insert into marketing_preferences as p (${preferences.columns})
     select * from ${preferences} order by preferences.sender_id, preferences.person
     on conflict (sender_id, person) do update set user_id = coalesce(excluded.user_id, p.user_id),
       marketing = excluded.marketing, changed_at = excluded.changed_at
     where p.marketing <> excluded.marketing and (p.changed_at < excluded.changed_at
       or (p.changed_at = excluded.changed_at and excluded.marketing = 'stop'))
     returning p.sender_id as "senderId", p.person, p.user_id as "userId"`,
).rows<Pick<Preference, 'senderId' | 'person' | 'userId'>>

/** Stores when people chose again what they had chosen. Call it after `upsertPreferences`, which locks the rows in order. */
export const updateRepeatedPreferences = statement(
  preferenceColumns,
  ({ preferences }) => `update marketing_preferences p set changed_at = preferences.changed_at,
       user_id = coalesce(preferences.user_id, p.user_id)
     from ${preferences}
     where p.sender_id = preferences.sender_id and p.person = preferences.person
       and p.marketing = preferences.marketing and p.changed_at <= preferences.changed_at`,
).change

/** The latest choice of each person, with the index of their row in `wanted`. People without a choice are missing. */
export const latestPreferences = statement(
  { wanted: { index: 'int', workspaceId: 'uuid', senderId: 'uuid', person: 'text' } },
  ({ wanted }) => `select distinct on (wanted.index) wanted.index, p.marketing, p.changed_at as "changedAt"
     from ${wanted} cross join lateral (
       select p.marketing, p.changed_at from marketing_preferences p
       where p.workspace_id = wanted.workspace_id and p.sender_id = wanted.sender_id
         and (p.person = wanted.person or p.user_id = wanted.person)
       order by p.changed_at desc, p.marketing desc limit 1) as p
     -- "stop" comes after "resume" in the alphabet.
     order by wanted.index, p.changed_at desc, p.marketing desc`,
).rows<Pick<Preference, 'marketing' | 'changedAt'> & { index: number }>

/** No index begins with a person or a user ID, so all rows of the workspace are read. Only people who made a choice have a row. */
const isOfPerson = `workspace_id = $1 and ((person = any($2::text[]) and ($4 or user_id is null))
    or person = any($3::text[]) or (not $4 and user_id = any($3::text[])))`

export const preferencesOf = (db: Db, person: KnownPerson) =>
  db.rows<{ sender_id: string; marketing: string; changed_at: Date }>(
    `select sender_id, marketing, changed_at from marketing_preferences where ${isOfPerson} order by changed_at, sender_id`,
    personValues(person),
  )

export const deletePreferencesOf = (db: Db, person: KnownPerson): Promise<number> =>
  db.change(`delete from marketing_preferences where ${isOfPerson}`, personValues(person))
