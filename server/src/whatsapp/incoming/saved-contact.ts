import { readId, readNonBlank, readObject, readPhone, readTime } from '../read-json.ts'
import { type Change, readEach, type WebhookSource } from './unread.ts'

/** A contact that the business saved in the WhatsApp Business app, or removed there. */
export interface SavedContactItem extends WebhookSource {
  kind: 'saved_contact'
  /** The person's number, or their user ID if there is none. */
  person: string
  userId: string | null
  /** Null if the contact was removed. */
  name: string | null
  changedAt: Date
}

export function readSavedContacts({ value, wabaId, phoneNumberId, now, unread }: Change): SavedContactItem[] {
  if (phoneNumberId === null) return []
  return readEach(value, 'state_sync', unread, (each) => {
    const item = readObject(each)
    const contact = readObject(item?.contact)
    const userId = readId(contact?.user_id)
    const person = readPhone(contact?.phone_number) ?? userId
    const isRemoval = item?.action === 'remove'
    const name = readNonBlank(contact?.full_name, 1024) ?? readNonBlank(contact?.first_name, 1024)
    if (item?.type !== 'contact' || person === null) return null
    if (!isRemoval && (item.action !== 'add' || name === null)) return null
    return {
      kind: 'saved_contact',
      wabaId,
      phoneNumberId,
      person,
      userId,
      name: isRemoval ? null : name,
      changedAt: readTime(readObject(item.metadata)?.timestamp) ?? now,
    }
  })
}
