import { performAction } from './actions.ts'
import { confirmDeletion, isDeletable, isEditable, startEditing } from './amend.ts'
import type { Message } from './api.ts'
import { button, el } from './dom.ts'
import { pinHighlight } from './highlight.ts'
import { type IconName, icon } from './icons.ts'
import { summaryOf } from './message-view.ts'
import { changed, state } from './state.ts'
import { copyText } from './toast.ts'

const emojis = ['👍', '❤️', '😂', '😮', '🙏', '🎉']

let close: (() => void) | undefined

/** The menu of a message: react, reply, edit, delete, show it in the network log, copy its ID. */
export function openActions(message: Message, opener: HTMLElement): void {
  const wasOpen = opener.getAttribute('aria-expanded') === 'true'
  close?.()
  if (wasOpen) return
  const done = (run: () => void) => () => {
    close?.()
    run()
  }
  const entry = (name: IconName, label: string, run: () => void) =>
    button({ class: 'menu-item' }, done(run), icon(name, 18), label)
  const menu = el(
    'div',
    { class: 'menu', role: 'dialog', 'aria-label': 'Message actions' },
    message.direction === 'out' && !message.deletedAt && emojiRow(message, done),
    !message.deletedAt &&
      entry('reply', 'Reply', () => {
        Object.assign(state, { replyTo: message.id, editing: null })
        changed('reply')
      }),
    isEditable(message) && entry('pencil', 'Edit', () => startEditing(message)),
    isDeletable(message) &&
      entry('trash', 'Delete', () => {
        // The sheet returns the focus to it.
        opener.focus()
        confirmDeletion(message)
      }),
    entry('wire', 'Show in network log', () => pinHighlight([message.id], 'wire')),
    entry(
      'copy',
      'Copy message ID',
      () => void copyText(message.id, `Copied the ID of “${summaryOf(message).slice(0, 30)}”`),
    ),
  )
  const outside = (event: Event) => {
    if (!menu.contains(event.target as Node) && !opener.contains(event.target as Node)) close?.()
  }
  close = () => {
    menu.remove()
    opener.removeAttribute('aria-expanded')
    document.removeEventListener('pointerdown', outside, true)
    close = undefined
  }
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    close?.()
    opener.focus()
  })
  document.addEventListener('pointerdown', outside, true)
  opener.setAttribute('aria-expanded', 'true')
  opener.closest('.row')?.append(menu)
  menu.scrollIntoView({ block: 'nearest' })
  menu.querySelector('button')?.focus()
}

function emojiRow(message: Message, done: (run: () => void) => () => void): HTMLElement {
  const mine = [...state.messages.values()].findLast(
    ({ type, direction, content }) =>
      type === 'reaction' && direction === 'in' && (content as { message_id?: string }).message_id === message.id,
  )
  const current = (mine?.content as { emoji?: string } | undefined)?.emoji
  return el(
    'div',
    { class: 'emoji-row' },
    emojis.map((emoji) =>
      button(
        {
          class: 'emoji',
          'aria-label': emoji === current ? `Remove ${emoji}` : `React with ${emoji}`,
          'aria-pressed': String(emoji === current),
        },
        done(() =>
          emoji === current
            ? void performAction('unreact', { message: message.id }, 'Reaction')
            : void performAction('react', { message: message.id, emoji }, emoji),
        ),
        emoji,
      ),
    ),
  )
}
