import { statement } from '../../../db/statement.ts'

/** A person is their phone number, or the network's user ID if it does not provide the number. */
export type Person = { phone: string } | { userId: string | null }

/** A person who wrote to a sender: `person` is the number, or the user ID. */
export interface Writer {
  senderId: string
  person: string
}

/**
 * When each person wrote the latest private message to a sender. Late webhooks are recorded out of order, but no message is
 * recorded long before it is sent: only messages that were recorded since the newest one was sent can be later. The minute is
 * for clocks that differ.
 */
const latestBy = (isByPerson: string) =>
  statement({ workspaceId: 'uuid', writers: { senderId: 'uuid', person: 'text' } }, ({ workspaceId, writers }) => {
    const theirs = `m.workspace_id = ${workspaceId} and m.sender_id = writers.sender_id and ${isByPerson}
      and m.source is null and m.content ->> 'groupId' is null`
    return `select writers.sender_id as "senderId", writers.person, latest.at from ${writers}
       cross join lateral (
         select m.received_at as at from inbound_messages m where ${theirs} order by m.recorded_at desc, m.id desc limit 1
       ) as newest
       cross join lateral (
         select greatest(newest.at, max(m.received_at)) as at from inbound_messages m
         where ${theirs} and m.recorded_at >= newest.at - interval '1 minute'
       ) as latest`
  }).rows<Writer & { at: Date }>

export const latestByPhone = latestBy('m.sent_by = writers.person')
/** For people whose number the network does not provide. */
export const latestByUserId = latestBy('m.sent_by is null and m.sent_by_user_id = writers.person')
