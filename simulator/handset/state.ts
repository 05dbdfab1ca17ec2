import type { Catalog, Flow, Message, NetworkLogEntry, Phone, PhoneNumber, Template } from './api.ts'

/** A message written while offline. It is sent when the phone is back online. */
export interface Draft {
  action: string
  input: object
  label: string
  at: string
  numberId: string
}

/** The state of the page. After changing it, call `changed` with the part, and its listeners redraw. */
export const state = {
  isLive: false,
  people: [] as Phone[],
  numbers: [] as PhoneNumber[],
  templates: [] as Template[],
  flows: [] as Flow[],
  catalogs: [] as Catalog[],
  /** The selected phone, and the business number of the open chat. */
  me: '',
  to: '',
  /** Every message of `me`, oldest first. */
  messages: new Map<string, Message>(),
  drafts: new Map<string, Draft[]>(),
  /** Chats in which the business is typing. */
  typing: new Set<string>(),
  /** Unread counts of chats that are not open, by phone and business number. */
  unread: new Map<string, number>(),
  log: [] as NetworkLogEntry[],
  replyTo: null as string | null,
  /** The message that is open in the composer. */
  editing: null as string | null,
  /** The messages highlighted in the chat and in the network log. */
  highlighted: new Set<string>(),
}

export type Part = 'live' | 'people' | 'chat' | 'message' | 'wire' | 'entry' | 'mark' | 'reply'

const listeners = new Map<Part, Set<() => void>>()

export function on(part: Part, listener: () => void): void {
  const set = listeners.get(part) ?? new Set()
  listeners.set(part, set.add(listener))
}

const due = new Set<Part>()

/** Redraws once with the next frame, because a busy network causes many changes per frame. */
export function changed(part: Part): void {
  if (due.size === 0) (document.hidden ? setTimeout : requestAnimationFrame)(drawDue)
  due.add(part)
}

function drawDue(): void {
  const parts = [...due]
  due.clear()
  for (const part of parts) for (const listener of listeners.get(part) ?? []) listener()
}

export const me = (): Phone | undefined => state.people.find((person) => person.waId === state.me)

export const business = (): PhoneNumber | undefined => state.numbers.find((number) => number.id === state.to)

export const chatKey = (waId: string, numberId: string): string => `${waId} ${numberId}`

/** The open chat, oldest first. */
export const chat = (): Message[] => [...state.messages.values()].filter((message) => message.numberId === state.to)

export function setHighlighted(ids: Iterable<string>): void {
  state.highlighted = new Set(ids)
  changed('mark')
}
