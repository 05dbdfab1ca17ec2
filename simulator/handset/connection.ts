import { sendDrafts, setPhone } from './actions.ts'
import { control, type Message, type NetworkLogEntry } from './api.ts'
import { type Json, textAt } from './json.ts'
import { saveSelection, selectedNumber, selectedPhone } from './selection.ts'
import { changed, chatKey, me, state } from './state.ts'

/**
 * Keeps the page in sync with the simulator. On every connection, even after a restart of the simulator, the whole state
 * is loaded.
 */
export function connect(): void {
  const source = new EventSource('/control/events')
  source.onopen = async () => {
    try {
      await load(loadAll)
      state.isLive = true
    } catch {
      state.isLive = false
    }
    changed('live')
  }
  source.onerror = () => {
    if (state.isLive) {
      state.isLive = false
      changed('live')
    }
    // The browser reconnects by itself, except after an unexpected response.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1500)
  }
  for (const name of ['wire', 'message', 'change', 'status', 'phone', 'template', 'reset'])
    source.addEventListener(name, (event) => receive(name, JSON.parse((event as MessageEvent<string>).data)))
}

let loads = 0
/** Events that arrive during a load. They are applied after it, because it may be older than they are. */
const queue: [name: string, data: unknown][] = []

const receive = (name: string, data: unknown) => (loads > 0 ? queue.push([name, data]) : apply(name, data))

async function load(read: () => Promise<void>): Promise<void> {
  loads++
  try {
    await read()
  } finally {
    loads--
    if (loads === 0) for (const [name, data] of queue.splice(0)) apply(name, data)
  }
}

async function loadAll(): Promise<void> {
  const [people, numbers, templates, flows, catalogs, log] = await Promise.all([
    control.phones(),
    control.numbers(),
    control.templates(),
    control.flows(),
    control.catalogs(),
    control.log(maxEntries),
  ])
  Object.assign(state, { people, numbers, templates, flows, catalogs, log })
  if (!people.some(({ waId }) => waId === state.me)) state.me = selectedPhone(people)
  if (!numbers.some(({ id }) => id === state.to)) state.to = selectedNumber(numbers)
  await loadMessages()
  for (const phone of people) void sendDrafts(phone)
  changed('wire')
}

/** Loads the messages of the selected phone. */
async function loadMessages(): Promise<void> {
  const { me: waId } = state
  const messages = waId ? await control.messages(waId) : []
  if (waId !== state.me) return
  state.messages = new Map(messages.map((message) => [message.id, message]))
  changed('people')
  changed('chat')
  openChat()
}

/** Marks the messages of the open chat as read, unless the phone is offline. */
export function openChat(): void {
  state.unread.delete(chatKey(state.me, state.to))
  if (document.visibilityState !== 'visible' || !me()?.online || !state.to) return
  const hasUnread = [...state.messages.values()].some(
    (one) => one.numberId === state.to && one.journey?.state === 'delivered',
  )
  if (hasUnread && me()?.readReceipts) control.act(state.me, 'read', { to: state.to }).catch(() => {})
}

/** Opens the chat of the URL, after a link has changed it. */
export function followLink(): void {
  const [waId, numberId] = [selectedPhone(state.people), selectedNumber(state.numbers)]
  if (waId !== state.me || numberId !== state.to) void chooseChat(waId, numberId).catch(() => {})
}

export function chooseChat(waId: string, numberId: string): Promise<void> {
  const isOtherPhone = waId !== state.me
  Object.assign(state, { me: waId, to: numberId, replyTo: null, editing: null })
  state.highlighted = new Set()
  saveSelection(waId, numberId)
  if (isOtherPhone) state.messages = new Map()
  return load(loadMessages)
}

const maxEntries = 300

function apply(name: string, data: unknown): void {
  if (name === 'wire') addEntry(data as NetworkLogEntry)
  else if (name === 'message') addMessage(data as Message)
  else if (name === 'change') changeMessage(data as Message)
  else if (name === 'status') setStatus(data)
  else if (name === 'phone') setPhone(data as (typeof state.people)[number])
  else if (name === 'reset') void load(loadAll).catch(() => {})
}

function addEntry(entry: NetworkLogEntry): void {
  if (state.log.some(({ seq }) => seq === entry.seq)) return
  state.log.push(entry)
  if (state.log.length > maxEntries) state.log.splice(0, state.log.length - maxEntries)
  changed('entry')
}

/** How long WhatsApp shows that the business is typing, unless a message arrives before. */
const typingMs = 25_000
const typingTimers = new Map<string, ReturnType<typeof setTimeout>>()

function setTyping(key: string, isTyping: boolean): void {
  clearTimeout(typingTimers.get(key))
  typingTimers.delete(key)
  if (isTyping) {
    state.typing.add(key)
    typingTimers.set(
      key,
      setTimeout(() => setTyping(key, false), typingMs),
    )
  } else if (!state.typing.delete(key)) return
  changed('chat')
}

function addMessage(message: Message): void {
  if (message.direction === 'out') setTyping(chatKey(message.waId, message.numberId), false)
  if (message.type === 'template' && !isKnown(message)) void loadTemplates()
  if (message.waId === state.me) {
    state.messages.set(message.id, message)
    if (message.numberId === state.to) {
      changed('chat')
      return
    }
  }
  if (message.direction !== 'out' || message.amends) return
  const key = chatKey(message.waId, message.numberId)
  state.unread.set(key, (state.unread.get(key) ?? 0) + 1)
  changed('people')
}

/** A message was edited or deleted. */
function changeMessage(message: Message): void {
  if (!state.messages.has(message.id)) return
  state.messages.set(message.id, message)
  changed('chat')
}

function isKnown({ content }: Message): boolean {
  const language = textAt(content, 'language', 'code')
  return state.templates.some((one) => one.name === textAt(content, 'name') && one.language === language)
}

async function loadTemplates(): Promise<void> {
  state.templates = await control.templates().catch(() => state.templates)
  changed('chat')
}

function setStatus(update: unknown): void {
  const message = state.messages.get(textAt(update, 'id'))
  if (!message) return
  const status = textAt(update, 'status')
  if (message.direction === 'in') {
    if (status === 'seen_by_business') {
      message.receipt = 'seen'
      if ((update as Json).typing === true) setTyping(chatKey(message.waId, message.numberId), true)
    } else if (status === 'taken') message.receipt ??= 'taken'
  } else if (message.journey) {
    message.journey.state = status as NonNullable<Message['journey']>['state']
    const code = (update as Json).code as number | undefined
    message.journey.history.push({ status, at: new Date().toISOString(), ...(code === undefined ? {} : { code }) })
  }
  changed('message')
  if (status === 'delivered' && message.numberId === state.to) openChat()
}
