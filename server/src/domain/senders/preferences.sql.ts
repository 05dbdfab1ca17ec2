import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface Preference {
  senderId: string
  workspaceId: string
  /** A phone number, or the network's user ID. */
  person: string
  userId: string | null
  marketing: 'stop' | 'resume'
  changedAt: Date
}

const saving = statement(
  {
    preferences: {
      senderId: 'uuid',
      workspaceId: 'uuid',
      person: 'text',
      userId: 'text',
      marketing: 'text',
      changedAt: 'timestamptz',
    },
  },
  ({ preferences }) => `insert into marketing_preferences as p (${preferences.columns})
     select * from ${preferences} order by preferences.sender_id, preferences.person
     on conflict (sender_id, person) do update set user_id = coalesce(excluded.user_id, p.user_id),
       marketing = excluded.marketing, changed_at = excluded.changed_at
     where p.changed_at <= excluded.changed_at`,
)

/**
 * Stores at most one preference for each sender and person. The network repeats and reorders webhooks: an older preference
 * does not replace a newer one.
 */
export const upsertPreferences = (db: Db, preferences: readonly Preference[]): Promise<number> =>
  saving.change(db, { preferences })

/** The latest choice of a person, named by number or user ID. Undefined if they made none. */
export const latestPreference = (
  db: Db,
  workspaceId: string,
  senderId: string,
  person: readonly string[],
): Promise<Pick<Preference, 'marketing' | 'changedAt'> | undefined> =>
  db.first(
    `select marketing, changed_at as "changedAt" from marketing_preferences
     where workspace_id = $1 and sender_id = $2 and (person = any($3) or user_id = any($3))
     order by changed_at desc limit 1`,
    [workspaceId, senderId, person],
  )
