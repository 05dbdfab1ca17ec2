import type { Db } from '../../../db/db.ts'

/** A person is their phone number, or the network's user ID if it does not provide the number. */
export type Person = { phone: string } | { userId: string | null }

/** When the person wrote the latest private message to a sender. Late webhooks are recorded out of order. */
export async function latestPrivateMessage(
  db: Db,
  workspaceId: string,
  senderId: string,
  person: Person,
): Promise<Date | null> {
  const [isByPerson, value] =
    'phone' in person ? ['sent_by = $3', person.phone] : ['sent_by is null and sent_by_user_id = $3', person.userId]
  const row = await db.first<{ at: Date | null }>(
    `select max(received_at) as at from inbound_messages
     where workspace_id = $1 and sender_id = $2 and ${isByPerson} and content ->> 'groupId' is null`,
    [workspaceId, senderId, value],
  )
  return row?.at ?? null
}
