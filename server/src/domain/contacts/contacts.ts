/** Contacts as the console shows them: who they are, their conversation, and what they chose. */
import { type Contact, type ContactSender, scenarioMessagesMax } from '@parley/contract/console/contacts'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { withPrefix } from '../../lib/ids.ts'
import { type KeySet, positionOf } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import { isUserId } from '../../whatsapp/incoming/user-id.ts'
import type { NamedPerson } from '../messages/privacy/person.ts'
import { saveRead, unreadOf } from '../messages/reading/contact-list.ts'
import { listConversation } from '../messages/reading/conversation.ts'
import { lastHandovers, savedName, type TracedPerson, tracePerson } from '../messages/reading/person-traces.ts'
import { windowMs } from '../messages/reading/reply-window.ts'
import { findOpenErasure } from '../privacy/erasures.ts'
import { findChoices } from '../senders/preferences.ts'
import { findSenders } from '../senders/senders.ts'

/** Refuses if the workspace has no message with them. */
export async function getContact(db: Db, workspaceId: string, id: string): Promise<Contact> {
  const named = readContact(id)
  const person = await tracePerson(db, workspaceId, named)
  const erasure = await findOpenErasure(db, workspaceId, named)
  if (person.traces.length === 0 && !erasure) refuse('not_found')
  const latest = <Value>(read: (trace: TracedPerson['traces'][number]) => Value | null): Value | null =>
    person.traces.map(read).find((value) => value !== null) ?? null
  return {
    phone: person.numbers[0] ?? null,
    user_id: person.userIds[0] ?? null,
    username: latest(({ username }) => username),
    profile_name: latest(({ profileName }) => profileName),
    saved_name: await savedName(db, workspaceId, [...person.numbers, ...person.userIds]),
    senders: await sendersOf(db, workspaceId, person),
    unread: await unreadOf(db, workspaceId, [...person.numbers, ...person.userIds]),
    erasure: erasure && { asked_at: erasure.askedAt.toISOString(), waits: erasure.waits },
  }
}

/** Marks the conversation as read for the workspace. The contact does not see it. */
export async function markRead(db: Db, clock: Clock, workspaceId: string, id: string): Promise<void> {
  const { numbers, userIds, traces } = await tracePerson(db, workspaceId, readContact(id))
  if (traces.length === 0) refuse('not_found')
  if ((await saveRead(db, workspaceId, [...numbers, ...userIds], clock.now())) > 0) db.notify(workspaceId, 'messages')
}

export async function markAllRead(db: Db, clock: Clock, workspaceId: string): Promise<void> {
  if ((await saveRead(db, workspaceId, [''], clock.now())) > 0) db.notify(workspaceId, 'messages')
}

/** A page of the conversation, newest first. */
export const getConversation = async (db: Db, workspaceId: string, id: string, page: KeySet) =>
  listConversation(db, workspaceId, await tracePerson(db, workspaceId, readContact(id)), page)

/** The latest messages of the conversation as a JSON array, newest first. A page of them is in memory at a time. */
export async function* exportConversation(db: Db, workspaceId: string, id: string): AsyncGenerator<string> {
  const person = await tracePerson(db, workspaceId, readContact(id))
  const take = 100
  let after: KeySet['after'] = null
  yield '['
  for (let count = 0; count < scenarioMessagesMax; count += take) {
    const rows = await listConversation(db, workspaceId, person, { take, order: 'desc', after })
    for (const [index, { message }] of rows.entries()) yield `${count + index > 0 ? ',' : ''}${JSON.stringify(message)}`
    const last = rows.at(-1)
    if (!last || rows.length < take) break
    after = positionOf(last)
  }
  yield ']'
}

const readContact = (id: string): NamedPerson => (isUserId(id) ? { userId: id } : { number: id })

/** The senders of the newest messages, with the 24-hour window and what the contact chose about marketing. */
async function sendersOf(
  db: Db,
  workspaceId: string,
  { numbers, userIds, traces }: TracedPerson,
): Promise<ContactSender[]> {
  const ids = [...new Set(traces.map(({ senderId }) => senderId))]
  const senders = new Map((await findSenders(db, workspaceId, ids)).map((sender) => [sender.id, sender]))
  const personIds = [...numbers, ...userIds]
  const addressed = ids.map((senderId) => ({ workspaceId, senderId, personIds }))
  const choices = await findChoices(db, addressed)
  const handovers = await lastHandovers(db, workspaceId, ids, personIds)
  return ids.flatMap((id, index) => {
    const sender = senders.get(id)
    if (!sender) return []
    const own = traces.filter(({ senderId }) => senderId === id)
    // Webhooks may come out of order, so the newest row need not be the last message.
    const written = own.flatMap(({ writtenAt }) => (writtenAt ? [writtenAt.getTime()] : []))
    const choice = choices[index]
    const control = handovers.find(({ senderId }) => senderId === id)
    return [
      {
        id: withPrefix('snd', id),
        phone_number: sender.phone_number,
        display_name: sender.display_name,
        status: sender.status,
        window_expires_at: written.length === 0 ? null : new Date(Math.max(...written) + windowMs).toISOString(),
        marketing: choice ? { choice: choice.marketing, changed_at: choice.changedAt.toISOString() } : null,
        last_message_at: (own[0]?.at ?? new Date(0)).toISOString(),
        control: control
          ? {
              change: control.change,
              previous_owner: control.previousOwner,
              new_owner: control.newOwner,
              at: control.occurredAt.toISOString(),
            }
          : null,
      },
    ]
  })
}
