import type { Db } from '../../../db/db.ts'

/** A person is their phone number, or the network's user ID if it does not provide the number. */
export type Person =
  | { phone: string }
  /** No index has user IDs, so only messages since one that is known are read. */
  | { userId: string | null; since: Date }

/** When the person wrote the latest private message to a sender. Late webhooks are recorded out of order. */
export async function latestPrivateMessage(
  db: Db,
  workspaceId: string,
  senderId: string,
  person: Person,
): Promise<Date | null> {
  const [isByPerson, values] =
    'phone' in person
      ? ['sent_by = $3', [person.phone]]
      : ['sent_by is null and sent_by_user_id = $3 and recorded_at >= $4', [person.userId, person.since]]
  const row = await db.first<{ at: Date | null }>(
    `select max(received_at) as at from inbound_messages
     where workspace_id = $1 and sender_id = $2 and ${isByPerson} and content ->> 'groupId' is null`,
    [workspaceId, senderId, ...values],
  )
  return row?.at ?? null
}
