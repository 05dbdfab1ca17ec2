/** What a text names: a message, an event, a number, an account or a person. */
import type { Db } from '../../db/db.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { isUserId } from '../../whatsapp/incoming/user-id.ts'
import { type Connection, listConnections } from '../connections/connections.ts'
import { findEventWithDeliveries } from '../deliveries/reading/deliveries-of-message.ts'
import { listedMessages, messagesNamed } from '../messages/reading/console-list.ts'
import { type LocatedSender, sendersNamed } from '../senders/senders.ts'

type FoundEvent = NonNullable<Awaited<ReturnType<typeof findEventWithDeliveries>>>

export type Subject =
  | { kind: 'sender'; id: string; sender: LocatedSender }
  | { kind: 'account'; id: string; connection: Connection }
  | { kind: 'message'; id: string }
  | { kind: 'event'; id: string; event: FoundEvent }
  | { kind: 'contact'; id: string }

/** Undefined if the workspace has nothing like it. */
export async function locate(db: Db, workspaceId: string, text: string): Promise<Subject | undefined> {
  const typed = text.trim()
  const uuid = typed.toLowerCase()
  const senderId = withoutPrefix('snd', uuid)
  if (senderId) return senderNamed(db, workspaceId, senderId)
  if (isUuid(uuid)) {
    const event = await findEventWithDeliveries(db, workspaceId, uuid)
    if (event) return { kind: 'event', id: uuid, event }
  }
  if (isUuid(uuid) || withoutPrefix('msg', uuid) || typed.startsWith('wamid.')) {
    return messageNamed(db, workspaceId, isUuid(uuid) ? withPrefix('msg', uuid) : typed)
  }
  const digits = typed.replaceAll(/[\s().+-]/g, '')
  if (/^\d{5,30}$/.test(digits)) {
    const sender = await senderNamed(db, workspaceId, digits)
    if (sender) return sender
    const connection = (await listConnections(db, workspaceId)).find(({ wabaId }) => wabaId === digits)
    if (connection) return { kind: 'account', id: digits, connection }
    return contactNamed(db, workspaceId, { phone: digits }, digits)
  }
  return isUserId(typed) ? contactNamed(db, workspaceId, { user_id: typed }, typed) : undefined
}

async function senderNamed(db: Db, workspaceId: string, name: string): Promise<Subject | undefined> {
  const [sender] = await sendersNamed(db, workspaceId, name)
  return sender && { kind: 'sender', id: withPrefix('snd', sender.id), sender }
}

const newest = (take: number) => ({ take, after: null, order: 'desc' }) as const

async function messageNamed(db: Db, workspaceId: string, q: string): Promise<Subject | undefined> {
  const [message] = await messagesNamed(db, workspaceId, q, newest(1))
  return message && { kind: 'message', id: withPrefix('msg', message.id) }
}

async function contactNamed(
  db: Db,
  workspaceId: string,
  person: { phone: string } | { user_id: string },
  id: string,
): Promise<Subject | undefined> {
  const [message] = await listedMessages.rows(db, workspaceId, person, newest(1))
  return message && { kind: 'contact', id }
}

const dayMs = 86_400_000

/** The newest message to a person, unless it is more than a day old and they have written since. */
export async function lastMessageTo(db: Db, workspaceId: string, id: string, now: Date): Promise<string | undefined> {
  const person = isUserId(id) ? { user_id: id } : { phone: id }
  const [last] = await listedMessages.rows(db, workspaceId, person, newest(1))
  const [sent] = await listedMessages.rows(db, workspaceId, { ...person, direction: 'sent' }, newest(1))
  const isRecent = sent && (sent.id === last?.id || now.getTime() - sent.at.getTime() < dayMs)
  return isRecent ? withPrefix('msg', sent.id) : undefined
}
