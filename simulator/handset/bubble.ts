import { editableText } from './amend.ts'
import type { Message } from './api.ts'
import { openActions } from './bubble-actions.ts'
import { button, el, fill } from './dom.ts'
import { highlight, pinHighlight } from './highlight.ts'
import { icon } from './icons.ts'
import { textAt } from './json.ts'
import { contentOf, summaryOf } from './message-view.ts'
import { business, me, state } from './state.ts'
import { clockTime } from './text.ts'
import { failureOf, ticks } from './ticks.ts'

/** A message in the chat. It is created once and then updated in place. */
export interface Bubble {
  message: Message
  row: HTMLElement
  update: (isFirst: boolean, reactions: string[]) => void
}

export function newBubble(message: Message): Bubble {
  const side = message.direction === 'in' ? 'mine' : 'theirs'
  const inside = el('div', { class: 'inside' })
  const meta = el('span', { class: 'meta' })
  const reacted = el('div', { class: 'reactions' })
  const failure = el('p', { class: 'failure' })
  const bubble = el('div', { class: 'bubble' }, quoteOf(message), inside, ...editsOf(message), meta)
  const more = button(
    { class: 'row-more', 'aria-label': 'Message actions', 'aria-haspopup': 'dialog' },
    (event) => openActions(message, event.currentTarget as HTMLElement),
    icon('smile', 18),
  )
  const row = el(
    'div',
    { class: `row ${side}`, 'data-id': message.id, 'data-type': message.type },
    el('div', { class: 'line' }, el('div', { class: 'bubble-box' }, bubble, reacted), more),
    failure,
  )
  row.addEventListener('mouseenter', () => highlight([message.id]))
  row.addEventListener('mouseleave', () => highlight([]))
  bubble.addEventListener('click', (event) => {
    if (!(event.target as Element).closest('button, a, video, audio, [tabindex]')) pinHighlight([message.id], 'wire')
  })
  let drawn: string | undefined
  return {
    message,
    row,
    update(isFirst, reactions) {
      const key = contentKey(message)
      if (key !== drawn) fill(inside, ...contentOf(message))
      drawn = key
      const isWaiting = side === 'theirs' && me()?.online === false && isUndelivered(message)
      row.classList.toggle('first', isFirst)
      row.classList.toggle('waits', isWaiting)
      row.classList.toggle('failed', message.journey?.state === 'failed')
      fill(
        meta,
        isWaiting && el('span', { class: 'waits-words' }, 'waiting for this phone'),
        message.source && el('span', { class: 'source' }, sources[message.source]),
        el('time', { datetime: message.at }, clockTime(message.at)),
        ticks(message),
      )
      const shown = message.deletedAt ? [] : reactions
      fill(reacted, ...shown.map((emoji) => el('span', { class: 'reaction' }, emoji)))
      failure.textContent = failureOf(message) ?? ''
    },
  }
}

const sources = { business_app: 'Business app', agent: 'Agent' }

/** A button that shows the earlier texts of an edited message. */
function editsOf({ edits = [], deletedAt }: Message): HTMLElement[] {
  if (edits.length === 0 || deletedAt) return []
  const versions = el(
    'ol',
    { class: 'versions', hidden: true, 'aria-label': 'Earlier texts' },
    edits.map((edit) =>
      el(
        'li',
        {},
        el('span', { class: 'words' }, editableText(edit) || 'No caption'),
        el('time', { datetime: edit.at }, `until ${clockTime(edit.at)}`),
      ),
    ),
  )
  const toggle = button(
    { class: 'edited', 'aria-expanded': 'false', title: 'Show the earlier text' },
    () => {
      versions.hidden = !versions.hidden
      toggle.setAttribute('aria-expanded', String(!versions.hidden))
    },
    'Edited',
  )
  return [versions, toggle]
}

const isUndelivered = ({ journey }: Message): boolean => journey?.state === 'accepted' || journey?.state === 'sent'

/** Changes when the content must be redrawn: a template was loaded, or a button was tapped. */
function contentKey(message: Message): string {
  if (message.type !== 'template' && message.type !== 'interactive') return ''
  const responses = [...state.messages.values()].filter(({ contextId }) => contextId === message.id).length
  const isKnown = state.templates.some(({ name }) => name === textAt(message.content, 'name'))
  return `${responses} ${isKnown}`
}

function quoteOf(message: Message): HTMLElement | null {
  const quoted = message.contextId ? state.messages.get(message.contextId) : undefined
  if (!quoted || message.deletedAt) return null
  const who = quoted.direction === 'in' ? 'You' : (business()?.verifiedName ?? 'Business')
  return button(
    { class: 'quote' },
    () => pinHighlight([quoted.id], 'chat'),
    el('strong', {}, who),
    el('span', {}, summaryOf(quoted)),
  )
}
