import { change, setOnline } from './acts.ts'
import type { Phone, PhoneNumber } from './api.ts'
import { avatar } from './avatar.ts'
import { button, type Child, el, fill } from './dom.ts'
import { icon } from './icons.ts'
import { chooseChat } from './live.ts'
import { openNewPerson } from './people-sheets.ts'
import { chatKey, me, on, state } from './state.ts'
import { showTab } from './tabs.ts'
import { formatPhone } from './text.ts'

const shownPeople = 40

/** Who holds the phone, whom they talk to, and how their phone behaves. */
export function peopleView(): HTMLElement {
  const people = el('ul', { class: 'faces' })
  const numbers = el('ul', { class: 'faces' })
  const settings = el('div', { class: 'settings' })
  const draw = () => {
    keepFocus(people, () => fill(people, ...shown().map((person) => el('li', {}, personView(person)))))
    keepFocus(numbers, () => fill(numbers, ...state.numbers.map((number) => el('li', {}, numberView(number)))))
    keepFocus(settings, () => fill(settings, ...settingsOf(me())))
  }
  on('people', draw)
  on('chat', draw)
  const add = () => {
    showTab('phone')
    openNewPerson()
  }
  return el(
    'nav',
    { class: 'rail', 'aria-label': 'People and numbers' },
    el('h2', {}, 'You are'),
    people,
    button(
      { class: 'add', 'aria-haspopup': 'dialog' },
      add,
      el('span', { class: 'add-icon' }, icon('plus', 18)),
      'Somebody new',
    ),
    el('h2', {}, 'Talking to'),
    numbers,
    el('h2', {}, 'Your phone'),
    settings,
  )
}

/** Those at hand; of a crowd the first ones, and always the one who holds the phone. */
function shown(): Phone[] {
  const first = state.people.slice(0, shownPeople)
  const self = me()
  return self && !first.includes(self) ? [self, ...first] : first
}

function personView(person: Phone): HTMLElement {
  const isMe = person.waId === state.me
  const unread = state.numbers.reduce((sum, { id }) => sum + (state.unread.get(chatKey(person.waId, id)) ?? 0), 0)
  const words = person.username ? `@${person.username}` : formatPhone(person.waId)
  return face(
    person.waId,
    person.name,
    words,
    isMe,
    isMe ? 0 : unread,
    () => chooseChat(person.waId, state.to),
    !person.online,
  )
}

function numberView(number: PhoneNumber): HTMLElement {
  const isOpen = number.id === state.to
  const unread = state.unread.get(chatKey(state.me, number.id)) ?? 0
  return face(number.id, number.verifiedName, formatPhone(number.phoneNumber), isOpen, isOpen ? 0 : unread, () =>
    chooseChat(state.me, number.id),
  )
}

function face(
  key: string,
  name: string,
  words: string,
  isChosen: boolean,
  unread: number,
  choose: () => Promise<void>,
  isOffline = false,
): HTMLElement {
  const press = () => {
    void choose().catch(() => {})
    showTab('phone')
  }
  return button(
    { class: `face ${isOffline ? 'offline' : ''}`, 'data-key': key, ...(isChosen ? { 'aria-current': 'true' } : {}) },
    press,
    avatar(name),
    el('span', { class: 'face-words' }, el('strong', {}, name), el('span', {}, words)),
    unread > 0 && el('span', { class: 'unread', 'aria-label': `${unread} unread` }, String(unread)),
    isOffline && el('span', { class: 'face-plane', title: 'Offline' }, icon('plane', 15)),
  )
}

function settingsOf(person: Phone | undefined): Child[] {
  if (!person) return []
  return [
    toggle('online', 'Online', person.online, (value) => setOnline(value)),
    toggle('readReceipts', 'Read receipts', person.readReceipts, (readReceipts) => change({ readReceipts })),
    toggle('acceptsMarketing', 'Accepts marketing', person.acceptsMarketing, (acceptsMarketing) =>
      change({ acceptsMarketing }),
    ),
  ]
}

function toggle(key: string, label: string, isOn: boolean, set: (value: boolean) => Promise<void>): HTMLElement {
  return button(
    { class: 'toggle', role: 'switch', 'aria-checked': String(isOn), 'data-key': key },
    () => void set(!isOn),
    el('span', {}, label),
    el('span', { class: 'knob', 'aria-hidden': 'true' }),
  )
}

/** Draws anew without taking the focus from whoever stands on the same thing. */
function keepFocus(parent: HTMLElement, draw: () => void): void {
  const key = parent.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.key : undefined
  draw()
  if (key) parent.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus()
}
