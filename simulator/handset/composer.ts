import { sendMessage } from './actions.ts'
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
  const send = async () => {
    const text = input.value.trim()
    if (text === '' || state.to === '') return
    input.value = ''
    check()
    input.focus()
    const isSent = await sendMessage('say', { text }, text)
    if (!isSent && input.value === '') input.value = text
    check()
  }
  input.addEventListener('input', check)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && state.replyTo) stopReplying()
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    void send()
  })
  on('reply', () => {
    drawQuoted(quoted)
    if (state.replyTo) input.focus()
  })
  let open = ''
  on('chat', () => {
    drawQuoted(quoted)
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
  state.replyTo = null
  changed('reply')
}

function drawQuoted(view: HTMLElement): void {
  const message = state.replyTo ? state.messages.get(state.replyTo) : undefined
  view.hidden = !message
  if (!message) return
  const who = message.direction === 'in' ? 'You' : (business()?.verifiedName ?? 'Business')
  fill(
    view,
    el('div', { class: 'quote' }, el('strong', {}, who), el('span', {}, summaryOf(message))),
    button({ class: 'round small', 'aria-label': 'Cancel reply' }, stopReplying, icon('close', 16)),
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
