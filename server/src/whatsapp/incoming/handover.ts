import { type JsonObject, readId, readObject, readPhone, readTime } from '../read-json.ts'
import type { Change, WebhookSource } from './unread.ts'

/** Another app or an agent took a conversation, or handed it over. */
export interface HandoverItem extends WebhookSource {
  kind: 'handover'
  /** The person's number, or their user ID if the number is withheld. */
  person: string
  userId: string | null
  change: 'passed' | 'taken'
  /** A role or an app ID, as WhatsApp says it. */
  previousOwner: string | null
  newOwner: string | null
  occurredAt: Date
}

const changes: ReadonlyMap<unknown, HandoverItem['change']> = new Map([
  ['control_passed', 'passed'],
  ['control_taken', 'taken'],
])

/** One without a time is not read: a repetition would look like another handover. */
export function readHandover({ value, wabaId, phoneNumberId }: Change): HandoverItem[] {
  const sender = readObject(value.sender)
  const userId = readId(sender?.user_id)
  const person = readPhone(sender?.phone_number) ?? userId
  const change = changes.get(value.type)
  const occurredAt = readTime(value.timestamp)
  if (phoneNumberId === null || person === null || change === undefined || occurredAt === null) return []
  const owners = readObject(value[`control_${change}`])
  const [previousOwner, newOwner] = [ownerIn(owners, 'previous'), ownerIn(owners, 'new')]
  return [{ kind: 'handover', wabaId, phoneNumberId, person, userId, change, previousOwner, newOwner, occurredAt }]
}

const ownerIn = (owners: JsonObject | null, which: 'previous' | 'new'): string | null =>
  readId(owners?.[`${which}_owner_role`]) ??
  readId(owners?.[`${which}_owner_app_role`]) ??
  readId(owners?.[`${which}_owner_app_id`])
