import { changePhone } from './actions.ts'
import type { Phone, PhoneNumber } from './api.ts'
import { avatar } from './avatar.ts'
import { businessButtons, isWithAgent, setAgent } from './business.ts'
import { chooseChat } from './connection.ts'
import { button, type Child, el, fill } from './dom.ts'
import { icon } from './icons.ts'
import { openNewPhone } from './people-sheets.ts'
import { scenarioButton } from './scenario-sheet.ts'
import { chatKey, me, on, state } from './state.ts'
import { showTab } from './tabs.ts'
import { formatPhone } from './text.ts'

const maxListed = 40

/** The sidebar: the phones, the business numbers, the settings of the selected phone, and what the business does elsewhere. */
export function peopleView(): HTMLElement {
  const people = el('ul', { class: 'faces' })
  const numbers = el('ul', { class: 'faces' })
  const settings = el('div', { class: 'settings' })
  const actions = el('div', { class: 'settings' })
  const draw = () => {
    keepFocus(people, () => fill(people, ...listedPeople().map((person) => el('li', {}, personView(person)))))
    keepFocus(numbers, () => fill(numbers, ...state.numbers.map((number) => el('li', {}, numberView(number)))))
    keepFocus(settings, () => fill(settings, ...settingsOf(me())))
    keepFocus(actions, () => fill(actions, ...businessSide()))
  }
  on('people', draw)
  on('chat', draw)
  const add = () => {
    showTab('phone')
    openNewPhone()
  }
  return el(
    'nav',
    { class: 'rail', 'aria-label': 'Phones and business numbers' },
    el('h2', {}, 'Phones'),
    people,
    button(
      { class: 'add', 'aria-haspopup': 'dialog' },
      add,
      el('span', { class: 'add-icon' }, icon('plus', 18)),
      'New phone',
    ),
    el('h2', {}, 'Business numbers'),
    numbers,
    el('h2', {}, 'Phone settings'),
    settings,
    el('h2', {}, 'Business side'),
    actions,
  )
}

function businessSide(): Child[] {
  if (!me() || !state.to) return []
  return [toggle('withAgent', 'Agent handles this chat', isWithAgent(), setAgent), ...businessButtons()]
}

/** Magic recipients, which make requests fail. They have no conversations worth opening. */
const magicNumber = /^1555(0[1-9]\d{5}|[123]\d{6}|9000\d{3})$/

/** The first phones, and always the selected one. */
function listedPeople(): Phone[] {
  const first = state.people.filter(({ waId }) => !magicNumber.test(waId)).slice(0, maxListed)
  const self = me()
  return self && !first.includes(self) ? [self, ...first] : first
}

function personView(person: Phone): HTMLElement {
  const isMe = person.waId === state.me
  const unread = state.numbers.reduce((sum, { id }) => sum + (state.unread.get(chatKey(person.waId, id)) ?? 0), 0)
  const subtitle = person.username ? `@${person.username}` : formatPhone(person.waId)
  return listButton(
    person.waId,
    person.name,
    subtitle,
    isMe,
    isMe ? 0 : unread,
    () => chooseChat(person.waId, state.to),
    !person.online,
  )
}

function numberView(number: PhoneNumber): HTMLElement {
  const isOpen = number.id === state.to
  const unread = state.unread.get(chatKey(state.me, number.id)) ?? 0
  return listButton(number.id, number.verifiedName, formatPhone(number.phoneNumber), isOpen, isOpen ? 0 : unread, () =>
    chooseChat(state.me, number.id),
  )
}

function listButton(
  key: string,
  name: string,
  subtitle: string,
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
    el('span', { class: 'face-words' }, el('strong', {}, name), el('span', {}, subtitle)),
    unread > 0 && el('span', { class: 'unread', 'aria-label': `${unread} unread` }, String(unread)),
    isOffline && el('span', { class: 'face-plane', title: 'Offline' }, icon('plane', 15)),
  )
}

function settingsOf(person: Phone | undefined): Child[] {
  if (!person) return []
  return [
    toggle('online', 'Online', person.online, (online) => changePhone({ online })),
    toggle('readReceipts', 'Read receipts', person.readReceipts, (readReceipts) => changePhone({ readReceipts })),
    toggle('acceptsMarketing', 'Accepts marketing', person.acceptsMarketing, (acceptsMarketing) =>
      changePhone({ acceptsMarketing }),
    ),
    scenarioButton(),
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

/** Redraws and restores the focus to the element with the same key. */
function keepFocus(parent: HTMLElement, draw: () => void): void {
  const key = parent.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.key : undefined
  draw()
  if (key) parent.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus()
}
