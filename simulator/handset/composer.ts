import { sendMessage } from './actions.ts'
import { editableText, editMessage, latestEditable, startEditing } from './amend.ts'
import type { Message } from './api.ts'
import { openCatalog } from './catalog-sheet.ts'
import { button, el, fill } from './dom.ts'
import { openFile } from './file-sheet.ts'
import { type IconName, icon } from './icons.ts'
import { openLocation } from './location-sheet.ts'
import { summaryOf } from './message-view.ts'
import { openContact } from './people-sheets.ts'
import { isFramed } from './selection.ts'
import { openSheet } from './sheet.ts'
import { business, changed, chatKey, on, state } from './state.ts'

/** The message input and the attachment menu. */
export function composerView(): HTMLElement {
  const input = el('textarea', {
    rows: 1,
    placeholder: 'Message',
    'aria-label': 'Message',
    maxlength: 4096,
    enterkeyhint: 'send',
  })
  const sendButton = button(
    { class: 'send', 'aria-label': 'Send', disabled: true },
    () => void send(),
    icon('send', 22),
  )
  const quoted = el('div', { class: 'quoting', hidden: true })
  const check = () => {
    sendButton.disabled = input.value.trim() === '' || state.to === ''
  }
  /** The message that is being edited, and the text that was typed before. */
  let editing: string | null = null
  let unsent = ''
  const showEditing = () => {
    if (editing === state.editing) return
    if (!editing) unsent = input.value
    editing = state.editing
    const message = state.messages.get(editing ?? '')
    input.value = message ? editableText(message) : unsent
    input.setAttribute('aria-label', editing ? 'Edit message' : 'Message')
    sendButton.setAttribute('aria-label', editing ? 'Save' : 'Send')
    check()
  }
  const save = async (message: Message, text: string) => {
    if (text === editableText(message)) return stopReplying()
    if (await editMessage(message, text)) stopReplying()
  }
  const send = async () => {
    const text = input.value.trim()
    if (text === '' || state.to === '') return
    const edited = state.messages.get(editing ?? '')
    if (edited) return save(edited, text)
    input.value = ''
    check()
    input.focus()
    const isSent = await sendMessage('say', { text }, text)
    if (!isSent && input.value === '') input.value = text
    check()
  }
  input.addEventListener('input', check)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && (state.replyTo || state.editing)) stopReplying()
    const latest = event.key === 'ArrowUp' && input.value === '' && !editing ? latestEditable() : undefined
    if (latest) {
      event.preventDefault()
      startEditing(latest)
    }
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    void send()
  })
  on('reply', () => {
    drawQuoted(quoted)
    showEditing()
    if (state.replyTo || state.editing) input.focus()
  })
  let open = ''
  on('chat', () => {
    drawQuoted(quoted)
    showEditing()
    check()
    const key = chatKey(state.me, state.to)
    if (key === open) return
    open = key
    if (canFocus()) input.focus()
  })
  return el(
    'div',
    { class: 'composer' },
    quoted,
    el(
      'div',
      { class: 'composer-line' },
      button({ class: 'round', 'aria-label': 'Attach', 'aria-haspopup': 'dialog' }, openTray, icon('plus', 24)),
      input,
      sendButton,
    ),
  )
}

/** A new chat is ready to be typed in. Not on a touch screen, where it would open the keyboard, and not inside another page. */
const canFocus = (): boolean =>
  matchMedia('(hover: hover)').matches &&
  (!isFramed || document.hasFocus()) &&
  !document.querySelector('[role="dialog"]')

function stopReplying(): void {
  Object.assign(state, { replyTo: null, editing: null })
  changed('reply')
}

function drawQuoted(view: HTMLElement): void {
  const message = state.messages.get(state.editing ?? state.replyTo ?? '')
  view.hidden = !message
  if (!message) return
  const who = message.direction === 'in' ? 'You' : (business()?.verifiedName ?? 'Business')
  const title = state.editing ? 'Edit message' : who
  const label = state.editing ? 'Cancel edit' : 'Cancel reply'
  fill(
    view,
    el('div', { class: 'quote' }, el('strong', {}, title), el('span', {}, summaryOf(message))),
    button({ class: 'round small', 'aria-label': label }, stopReplying, icon('close', 16)),
  )
}

function openTray(): void {
  const items: [IconName, string, () => void][] = [
    ['picture', 'Photo', () => openFile('picture')],
    ['film', 'Video', () => openFile('video')],
    ['smile', 'Sticker', () => openFile('sticker')],
    ['file', 'Document', () => openFile('document')],
    ['mic', 'Voice message', () => openFile('voice')],
    ['pin', 'Location', () => openLocation()],
    ['person', 'Contact', openContact],
    ['bag', 'Catalog', () => openCatalog()],
  ]
  openSheet('Attach', ({ close }) =>
    el(
      'div',
      { class: 'tray' },
      items.map(([name, label, open], index) => {
        const press = () => {
          close()
          open()
        }
        return button(
          { class: 'tray-item' },
          press,
          el('span', { class: `tray-icon shade-${(index * 3) % 8}` }, icon(name, 24)),
          label,
        )
      }),
    ),
  )
}
