import { changePhone } from './actions.ts'
import type { PhoneNumber } from './api.ts'
import { avatar } from './avatar.ts'
import { chatView } from './chat.ts'
import { composerView } from './composer.ts'
import { button, el, fill } from './dom.ts'
import { icon } from './icons.ts'
import { isFramed } from './selection.ts'
import { setScreen } from './sheet.ts'
import { business, chatKey, me, on, state } from './state.ts'
import { clockTime, formatPhone } from './text.ts'

/** The phone: a frame and a screen with one chat. */
export function phoneView(): HTMLElement {
  const bar = el('div', { class: 'status-bar', 'aria-hidden': 'true' })
  const head = el('header', { class: 'chat-head' })
  const notice = el('p', { class: 'offline-notice', role: 'status' })
  const screen = el('div', { class: 'screen' }, bar, head, notice, chatView(), composerView())
  const draw = () => {
    drawBar(bar)
    drawHead(head)
    const isOffline = me()?.online === false
    screen.classList.toggle('offline', isOffline)
    notice.textContent = isOffline ? 'Offline. Messages are sent and received when the phone is back online.' : ''
  }
  on('people', draw)
  on('chat', draw)
  setInterval(() => drawBar(bar), 10_000)
  setScreen(screen)
  return el(
    'section',
    { class: 'phone-area', 'aria-label': 'Phone' },
    el(
      'div',
      { class: 'phone' },
      el('span', { class: 'side-key upper' }),
      el('span', { class: 'side-key lower' }),
      screen,
    ),
  )
}

/** Opens the conversation in the console of the app, if the simulator was started with its URL. */
function consoleLink({ phoneNumber }: PhoneNumber): HTMLElement | null {
  const url = document.querySelector<HTMLMetaElement>('meta[name="console"]')?.content
  const person = me()
  if (!url || !person) return null
  const hidesNumber = (person.switches.senderIdentity ?? 'phone') !== 'phone'
  const identity = hidesNumber ? { user_id: person.userId } : { phone: person.waId }
  const label = 'Open in the console'
  return el(
    'a',
    {
      class: 'round',
      href: `${url}/conversation?${new URLSearchParams({ ...identity, sender: phoneNumber })}`,
      // From a frame, the console itself shows it.
      target: isFramed ? '_top' : 'parley-console',
      'aria-label': label,
      title: label,
    },
    icon('open', 20),
  )
}

function drawBar(bar: HTMLElement): void {
  const isOffline = me()?.online === false
  fill(
    bar,
    el('span', { class: 'bar-time' }, clockTime(new Date().toISOString())),
    el('span', { class: 'camera' }),
    el(
      'span',
      { class: 'bar-right' },
      isOffline ? icon('plane', 15) : el('span', { class: 'signal' }, ...[1, 2, 3, 4].map(() => el('i', {}))),
      el('span', { class: 'battery' }, el('i', {})),
    ),
  )
}

function drawHead(head: HTMLElement): void {
  const number = business()
  const isOffline = me()?.online === false
  if (!number) {
    fill(head, el('strong', {}, 'No business number'))
    return
  }
  const isTyping = state.typing.has(chatKey(state.me, state.to))
  const label = isOffline ? 'Go online' : 'Go offline'
  const hadFocus = head.contains(document.activeElement)
  const plane = button(
    { class: 'round plane', 'aria-label': label, title: label, 'aria-pressed': String(isOffline) },
    () => void changePhone({ online: isOffline }),
    icon('plane', 20),
  )
  fill(
    head,
    avatar(number.verifiedName),
    el(
      'div',
      { class: 'chat-title' },
      el(
        'h1',
        {},
        number.verifiedName,
        el('span', { class: 'badge-mark', title: 'Business account' }, icon('verified', 17)),
      ),
      el('span', {}, isTyping ? 'typing…' : formatPhone(number.phoneNumber)),
    ),
    consoleLink(number),
    plane,
  )
  if (hadFocus) plane.focus()
}
