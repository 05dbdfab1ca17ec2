import { performAction, performBusinessAction } from './actions.ts'
import type { Message } from './api.ts'
import { button, el } from './dom.ts'
import { textAt } from './json.ts'
import { summaryOf } from './message-view.ts'
import { openSheet } from './sheet.ts'
import { changed, chat, state } from './state.ts'

/** A contact can edit and delete their messages, and the business its messages of the Business app. */
export const isDeletable = ({ direction, source, deletedAt }: Message): boolean =>
  (direction === 'in' || source === 'business_app') && !deletedAt

const editableTypes = ['text', 'image', 'video', 'document']

export const isEditable = (message: Message): boolean => isDeletable(message) && editableTypes.includes(message.type)

/** The part of a message that can be edited: its text, or the caption of its file. */
export const editableText = ({ content }: { content: unknown }): string =>
  textAt(content, 'body') || textAt(content, 'caption')

/** Opens a message in the composer. */
export function startEditing(message: Message): void {
  Object.assign(state, { editing: message.id, replyTo: null })
  changed('reply')
}

/** The latest message of this person that can be edited. */
export const latestEditable = (): Message | undefined =>
  chat().findLast((message) => message.direction === 'in' && isEditable(message))

export function editMessage(message: Message, text: string): Promise<boolean> {
  return amend('edit', message, { text }, text)
}

export function confirmDeletion(message: Message): void {
  openSheet('Delete this message?', ({ close }) => {
    const confirm = async () => {
      close()
      await amend('delete', message, {}, 'Delete a message')
      document.querySelector<HTMLElement>('.composer textarea')?.focus()
    }
    return [
      el('p', { class: 'still' }, summaryOf(message)),
      button({ class: 'primary' }, () => void confirm(), 'Delete for everyone'),
      button({ class: 'secondary' }, close, 'Cancel'),
    ]
  })
}

function amend(action: 'edit' | 'delete', message: Message, input: object, label: string): Promise<boolean> {
  if (message.direction === 'in') return performAction(action, { message: message.id, ...input }, label)
  return performBusinessAction(action, { phone: message.waId, message: message.id, ...input })
}
