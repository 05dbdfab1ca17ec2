import { write } from './acts.ts'
import type { Message } from './api.ts'
import { type Bubble, newBubble } from './bubble.ts'
import { button, el } from './dom.ts'
import { textAt } from './json.ts'
import { whenShown } from './pointing.ts'
import { business, chat, chatKey, on, state } from './state.ts'
import { clockTime, dayName } from './text.ts'
import { waitingTick } from './ticks.ts'

const shownAtFirst = 120
const starters = ['Hi!', 'Are you open today?', 'Book a visit']

/** The conversation. */
export function chatView(): HTMLElement {
  const log = el('div', { class: 'log', role: 'log', 'aria-label': 'Conversation', tabindex: '0' })
  const bubbles = new Map<string, Bubble>()
  let open = ''
  let shown = shownAtFirst
  const draw = () => {
    const key = chatKey(state.me, state.to)
    const isOther = key !== open
    if (isOther) {
      open = key
      shown = shownAtFirst
      bubbles.clear()
    }
    const wasAtEnd = isOther || log.scrollHeight - log.scrollTop - log.clientHeight < 80
    sync(
      log,
      rows(bubbles, shown, isOther, () => {
        shown += shownAtFirst
        draw()
      }),
    )
    log.classList.toggle('empty', log.childElementCount === 0)
    if (wasAtEnd) log.scrollTop = log.scrollHeight
  }
  on('chat', draw)
  on('message', draw)
  on('mark', () => {
    for (const [id, { row }] of bubbles) row.classList.toggle('marked', state.marked.has(id))
  })
  whenShown((where, ids) => {
    if (where !== 'chat') return
    const row = ids.map((id) => bubbles.get(id)?.row).find((one) => one?.isConnected)
    row?.scrollIntoView({ block: 'center', behavior: calm() ? 'auto' : 'smooth' })
  })
  // Pictures grow after they were put in; whoever reads the end should go on seeing the end.
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

export const calm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

function rows(bubbles: Map<string, Bubble>, shown: number, isOther: boolean, showMore: () => void): Node[] {
  const all = chat()
  const messages = all.filter(({ type }) => type !== 'reaction')
  const reactions = reactionsIn(all)
  const nodes: Node[] = []
  if (messages.length > shown) nodes.push(button({ class: 'earlier' }, showMore, 'Earlier messages'))
  let before: Message | undefined
  for (const message of messages.slice(-shown)) {
    if (!before || dayName(before.at) !== dayName(message.at)) {
      nodes.push(el('p', { class: 'day' }, el('span', {}, dayName(message.at))))
      before = undefined
    }
    let bubble = bubbles.get(message.id)
    // Read anew after a lost connection, it is another message with the same id.
    if (bubble?.message !== message) {
      bubble = newBubble(message)
      bubbles.set(message.id, bubble)
      if (!isOther) bubble.row.classList.add('fresh')
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
              el('p', { class: 'words' }, draft.words),
              el('span', { class: 'meta' }, clockTime(draft.at), waitingTick()),
            ),
          ),
        ),
      )
  if (nodes.length === 0) nodes.push(nothingYet())
  return nodes
}

function nothingYet(): HTMLElement {
  const number = business()
  if (!number) return el('div', { class: 'nothing' }, el('p', {}, 'There is no business number to talk to.'))
  return el(
    'div',
    { class: 'nothing' },
    el('p', {}, el('strong', {}, `Say hello to ${number.verifiedName}.`)),
    el('p', {}, 'What you write here is posted to the app as a webhook. Watch the wire.'),
    el(
      'div',
      { class: 'starters' },
      starters.map((text) => button({ class: 'starter' }, () => void write('say', { text }, text), text)),
    ),
  )
}

/** The last reaction of either side to each message. */
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

/** Puts the nodes in, moving none that is in its place: a video goes on playing, and the focus stays. */
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
