import { control, type Message, type NetworkLogEntry } from './api.ts'
import { chosen, keepChosen } from './chosen.ts'
import { type Json, textAt } from './json.ts'
import { changed, chatKey, me, state } from './state.ts'

/**
 * Keeps the page in step with the simulator. On every connection, also after the simulator was restarted, everything is
 * read anew; what happens meanwhile is kept back and applied after it.
 */
export function goLive(): void {
  let backlog: [string, unknown][] | null = null
  const source = new EventSource('/control/events')
  const take = (name: string, data: unknown) => (backlog ? backlog.push([name, data]) : apply(name, data))
  source.onopen = async () => {
    backlog = []
    try {
      await readAll()
      state.isLive = true
    } catch {
      state.isLive = false
    }
    const waiting = backlog
    backlog = null
    for (const [name, data] of waiting) apply(name, data)
    changed('live')
  }
  source.onerror = () => {
    if (state.isLive) {
      state.isLive = false
      changed('live')
    }
    // A browser tries again by itself, except after an answer it did not expect.
    if (source.readyState === EventSource.CLOSED) setTimeout(goLive, 1500)
  }
  for (const name of ['wire', 'message', 'status', 'phone', 'template', 'reset'])
    source.addEventListener(name, (event) => take(name, JSON.parse((event as MessageEvent<string>).data)))
}

async function readAll(): Promise<void> {
  const [people, numbers, templates, flows, catalogs, wire] = await Promise.all([
    control.phones(),
    control.numbers(),
    control.templates(),
    control.flows(),
    control.catalogs(),
    control.log(keptEntries),
  ])
  Object.assign(state, { people, numbers, templates, flows, catalogs, wire })
  if (!people.some(({ waId }) => waId === state.me))
    state.me = chosen(
      'from',
      people.map(({ waId }) => waId),
    )
  if (!numbers.some(({ id }) => id === state.to))
    state.to = chosen(
      'to',
      numbers.map(({ id }) => id),
    )
  await readChat()
  changed('wire')
}

/** Reads the messages of whoever holds the phone now. */
async function readChat(): Promise<void> {
  const { me: waId } = state
  const messages = waId ? await control.messages(waId) : []
  if (waId !== state.me) return
  state.messages = new Map(messages.map((message) => [message.id, message]))
  changed('people')
  changed('chat')
  openChat()
}

/** Looking at a chat reads what has arrived in it; a phone without a connection cannot say so. */
export function openChat(): void {
  state.unread.delete(chatKey(state.me, state.to))
  if (document.visibilityState !== 'visible' || !me()?.online || !state.to) return
  const fresh = [...state.messages.values()].some(
    (one) => one.numberId === state.to && one.journey?.state === 'delivered',
  )
  if (fresh && me()?.readReceipts) control.act(state.me, 'read', { to: state.to }).catch(() => {})
}

export function chooseChat(waId: string, numberId: string): Promise<void> {
  const isOther = waId !== state.me
  Object.assign(state, { me: waId, to: numberId, replyTo: null })
  state.marked = new Set()
  keepChosen(waId, numberId)
  if (isOther) state.messages = new Map()
  return readChat()
}

const keptEntries = 300

function apply(name: string, data: unknown): void {
  if (name === 'wire') addEntry(data as NetworkLogEntry)
  else if (name === 'message') addMessage(data as Message)
  else if (name === 'status') setStatus(data)
  else if (name === 'phone') setPhone(data as (typeof state.people)[number])
  else if (name === 'reset') void readAll().catch(() => {})
}

function addEntry(entry: NetworkLogEntry): void {
  if (state.wire.some(({ seq }) => seq === entry.seq)) return
  state.wire.push(entry)
  if (state.wire.length > keptEntries) state.wire.splice(0, state.wire.length - keptEntries)
  changed('entry')
}

function addMessage(message: Message): void {
  if (message.type === 'template' && !isKnown(message)) void readTemplates()
  if (message.waId === state.me) {
    state.messages.set(message.id, message)
    if (message.numberId === state.to) {
      changed('chat')
      return
    }
  }
  if (message.direction !== 'out') return
  const key = chatKey(message.waId, message.numberId)
  state.unread.set(key, (state.unread.get(key) ?? 0) + 1)
  changed('people')
}

function isKnown({ content }: Message): boolean {
  const language = textAt(content, 'language', 'code')
  return state.templates.some((one) => one.name === textAt(content, 'name') && one.language === language)
}

async function readTemplates(): Promise<void> {
  state.templates = await control.templates().catch(() => state.templates)
  changed('chat')
}

function setStatus(news: unknown): void {
  const message = state.messages.get(textAt(news, 'id'))
  if (!message) return
  const status = textAt(news, 'status')
  if (message.direction === 'in') {
    if (status === 'seen_by_business') message.receipt = 'seen'
    else if (status === 'taken') message.receipt ??= 'taken'
  } else if (message.journey) {
    message.journey.state = status as NonNullable<Message['journey']>['state']
    const code = (news as Json).code as number | undefined
    message.journey.history.push({ status, at: new Date().toISOString(), ...(code === undefined ? {} : { code }) })
  }
  changed('message')
  if (status === 'delivered' && message.numberId === state.to) openChat()
}

function setPhone(phone: (typeof state.people)[number]): void {
  const index = state.people.findIndex(({ waId }) => waId === phone.waId)
  if (index < 0) state.people.push(phone)
  else state.people[index] = phone
  changed('people')
  if (phone.waId === state.me) changed('chat')
}
