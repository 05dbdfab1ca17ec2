import { performAction, sendMessage } from './actions.ts'
import type { Message } from './api.ts'
import { type Bubble, newBubble } from './bubble.ts'
import { button, el } from './dom.ts'
import { onReveal } from './highlight.ts'
import { textAt } from './json.ts'
import { business, chat, chatKey, on, state } from './state.ts'
import { clockTime, dayName } from './text.ts'
import { waitingTick } from './ticks.ts'

const pageSize = 120
const starters = ['Hi!', 'Are you open today?', 'Book a visit']

/** The list of messages in the open chat. */
export function chatView(): HTMLElement {
  const log = el('div', { class: 'log', role: 'log', 'aria-label': 'Conversation', tabindex: '0' })
  const bubbles = new Map<string, Bubble>()
  let open = ''
  let shownCount = pageSize
  const draw = () => {
    const key = chatKey(state.me, state.to)
    const isNewChat = key !== open
    if (isNewChat) {
      open = key
      shownCount = pageSize
      bubbles.clear()
    }
    const wasAtEnd = isNewChat || log.scrollHeight - log.scrollTop - log.clientHeight < 80
    sync(
      log,
      rows(bubbles, shownCount, isNewChat, () => {
        shownCount += pageSize
        draw()
      }),
    )
    log.classList.toggle('empty', log.childElementCount === 0)
    if (wasAtEnd) log.scrollTop = log.scrollHeight
  }
  on('chat', draw)
  on('message', draw)
  on('mark', () => {
    for (const [id, { row }] of bubbles) row.classList.toggle('marked', state.highlighted.has(id))
  })
  onReveal((where, ids) => {
    if (where !== 'chat') return
    const row = ids.map((id) => bubbles.get(id)?.row).find((one) => one?.isConnected)
    row?.scrollIntoView({ block: 'center', behavior: prefersReducedMotion() ? 'auto' : 'smooth' })
  })
  // Images change the height when they load; if the end of the chat was visible, keep it visible.
  new ResizeObserver(() => {
    log.scrollTop = log.scrollHeight
  }).observe(log)
  log.addEventListener(
    'load',
    () => {
      if (log.scrollHeight - log.scrollTop - log.clientHeight < 420) log.scrollTop = log.scrollHeight
    },
    true,
  )
  return log
}

export const prefersReducedMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

function rows(bubbles: Map<string, Bubble>, shownCount: number, isNewChat: boolean, showMore: () => void): Node[] {
  const all = chat()
  const messages = all.filter(({ type, amends }) => type !== 'reaction' && !amends)
  const reactions = reactionsIn(all)
  const nodes: Node[] = []
  if (messages.length > shownCount) nodes.push(button({ class: 'earlier' }, showMore, 'Show earlier messages'))
  let before: Message | undefined
  for (const message of messages.slice(-shownCount)) {
    if (!before || dayName(before.at) !== dayName(message.at)) {
      nodes.push(el('p', { class: 'day' }, el('span', {}, dayName(message.at))))
      before = undefined
    }
    let bubble = bubbles.get(message.id)
    // After an edit, a deletion or a reconnect, the same ID has a new message object.
    if (bubble?.message !== message) {
      const isNew = bubble === undefined
      bubble = newBubble(message)
      bubbles.set(message.id, bubble)
      if (isNew && !isNewChat) bubble.row.classList.add('fresh')
    }
    bubble.update(before?.direction !== message.direction, reactions.get(message.id) ?? [])
    nodes.push(bubble.row)
    before = message
  }
  for (const draft of state.drafts.get(state.me) ?? [])
    if (draft.numberId === state.to)
      nodes.push(
        el(
          'div',
          { class: 'row mine draft' },
          el(
            'div',
            { class: 'line' },
            el(
              'div',
              { class: 'bubble' },
              el('p', { class: 'words' }, draft.label),
              el('span', { class: 'meta' }, clockTime(draft.at), waitingTick()),
            ),
          ),
        ),
      )
  if (nodes.length === 0) nodes.push(emptyChat())
  return nodes
}

function emptyChat(): HTMLElement {
  const number = business()
  if (!number)
    return el('div', { class: 'nothing' }, el('p', {}, 'No business number. Create one with POST /control/numbers.'))
  return el(
    'div',
    { class: 'nothing' },
    el('p', {}, el('strong', {}, `Say hello to ${number.verifiedName}.`)),
    el('p', {}, 'Your message is sent to the app as a webhook. You can follow it in the network log.'),
    el(
      'div',
      { class: 'starters' },
      starters.map((text) => button({ class: 'starter' }, () => void sendMessage('say', { text }, text), text)),
      button(
        { class: 'starter' },
        () => void performAction('welcome', { to: state.to }, 'Opened the chat'),
        'Open the chat without writing',
      ),
    ),
  )
}

/** The latest reaction of each side, by message. */
function reactionsIn(messages: Message[]): Map<string, string[]> {
  const latest = new Map<string, Map<string, string>>()
  for (const { type, content, direction, journey } of messages) {
    if (type !== 'reaction' || journey?.state === 'failed') continue
    const target = textAt(content, 'message_id')
    const sides = latest.get(target) ?? new Map<string, string>()
    latest.set(target, sides.set(direction, textAt(content, 'emoji')))
  }
  return new Map([...latest].map(([id, sides]) => [id, [...sides.values()].filter(Boolean)]))
}

/** Updates the children without moving unchanged nodes, so that videos keep playing and the focus stays. */
function sync(parent: HTMLElement, nodes: Node[]): void {
  let cursor = parent.firstChild
  for (const node of nodes) {
    if (cursor && cursor !== node && cursor instanceof HTMLElement && cursor.isEqualNode(node)) {
      cursor = cursor.nextSibling
      continue
    }
    if (cursor === node) cursor = cursor.nextSibling
    else parent.insertBefore(node, cursor)
  }
  while (cursor) {
    const next: ChildNode | null = cursor.nextSibling
    cursor.remove()
    cursor = next
  }
}
