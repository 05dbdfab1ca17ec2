import type { Catalog, Flow, Message, NetworkLogEntry, Phone, PhoneNumber, Template } from './api.ts'

/** A message written while offline: it waits on the phone. */
export interface Draft {
  action: string
  input: object
  words: string
  at: string
  numberId: string
}

/** What the page knows. Whoever changes it says so with `changed`, and those who draw that part hear of it. */
export const state = {
  isLive: false,
  people: [] as Phone[],
  numbers: [] as PhoneNumber[],
  templates: [] as Template[],
  flows: [] as Flow[],
  catalogs: [] as Catalog[],
  /** Who holds the phone, and which business number the open chat is with. */
  me: '',
  to: '',
  /** Every message of `me`, oldest first. */
  messages: new Map<string, Message>(),
  drafts: new Map<string, Draft[]>(),
  /** What came in chats that are not open, by person and number. */
  unread: new Map<string, number>(),
  wire: [] as NetworkLogEntry[],
  replyTo: null as string | null,
  /** The message whose traces are shown, on the wire and in the chat. */
  marked: new Set<string>(),
}

export type Part = 'live' | 'people' | 'chat' | 'message' | 'wire' | 'entry' | 'mark' | 'reply'

const listeners = new Map<Part, Set<() => void>>()

export function on(part: Part, listener: () => void): void {
  const set = listeners.get(part) ?? new Set()
  listeners.set(part, set.add(listener))
}

const due = new Set<Part>()

/** Draws with the next frame, and once: in a busy network much happens between two. */
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

export function mark(ids: Iterable<string>): void {
  state.marked = new Set(ids)
  changed('mark')
}
