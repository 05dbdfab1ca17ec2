import type { NetworkLogEntry } from './api.ts'
import { button, type Child, el, fill } from './dom.ts'
import { highlight, pinHighlight } from './highlight.ts'
import { icon } from './icons.ts'
import { jsonView, pretty } from './json-view.ts'
import { errorIn, logText, messagesIn } from './network-log-text.ts'
import { clockTimeWithSeconds, utcTime } from './text.ts'
import { copyText } from './toast.ts'

export interface EntryView {
  view: HTMLElement
  messages: string[]
}

let entries = 0

/** An entry of the network log. Expanded, it shows the request and the response. */
export function newEntry(entry: NetworkLogEntry): EntryView {
  const messages = messagesIn(entry)
  const { title, detail } = logText(entry)
  const time = el('time', { datetime: entry.at, title: utcTime(entry.at) }, clockTimeWithSeconds(entry.at))
  if (entry.kind === 'note')
    return {
      messages,
      view: el('li', { class: 'entry note' }, el('p', {}, icon('alert', 16), el('span', {}, detail), time)),
    }
  const id = `entry-${++entries}`
  const body = el('div', { class: 'entry-body', id, hidden: true })
  const error = errorIn(entry)
  const isSuccess = entry.status !== null && entry.status < 300
  const head = button(
    { class: 'entry-head', 'aria-expanded': 'false', 'aria-controls': id },
    () => {
      body.hidden = !body.hidden
      head.setAttribute('aria-expanded', String(!body.hidden))
      if (!body.hidden) fill(body, ...bodyOf(entry))
      if (!body.hidden && messages.length > 0) pinHighlight(messages, 'chat')
    },
    el(
      'span',
      { class: 'entry-way', title: entry.kind === 'webhook' ? 'Webhook to the app' : 'API request from the app' },
      icon(entry.kind === 'webhook' ? 'out' : 'in', 17),
    ),
    el(
      'span',
      { class: 'entry-words' },
      el('strong', { class: title.includes('failed') ? 'failed' : null }, title),
      el('span', { class: 'entry-detail' }, detail),
    ),
    entry.kind === 'webhook' && entry.attempt > 1 && el('span', { class: 'retry' }, `attempt ${entry.attempt}`),
    el(
      'span',
      { class: `code ${isSuccess ? 'good' : 'bad'}` },
      entry.status === null ? 'No response' : String(entry.status),
    ),
    error && el('span', { class: 'code bad', title: 'WhatsApp’s error code' }, `#${error.code}`),
    el('span', { class: 'entry-when' }, time, el('span', {}, `${entry.durationMs} ms`)),
  )
  const view = el('li', { class: `entry ${entry.kind}`, 'data-kind': entry.kind }, head, body)
  view.addEventListener('mouseenter', () => highlight(messages))
  view.addEventListener('mouseleave', () => highlight([]))
  return { view, messages }
}

function bodyOf(entry: Exclude<NetworkLogEntry, { kind: 'note' }>): Child[] {
  const details: [string, string][] =
    entry.kind === 'webhook'
      ? [
          ['POST', entry.url],
          ['Signature', entry.signature],
          ['Attempt', `${entry.attempt} · ${entry.updates} ${entry.updates === 1 ? 'update' : 'updates'}`],
          ...(entry.error ? [['Error', entry.error] as [string, string]] : []),
        ]
      : [
          [entry.method, entry.url],
          ['Token', entry.token ?? 'None'],
        ]
  return [
    el(
      'dl',
      { class: 'facts' },
      details.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
    ),
    entry.request && block('Request', entry.request),
    entry.response && block('Response', entry.response),
  ]
}

function block(label: string, text: string): Child {
  return el(
    'div',
    { class: 'block' },
    el(
      'div',
      { class: 'block-head' },
      el('h3', {}, label),
      button(
        { class: 'copy', 'aria-label': `Copy ${label.toLowerCase()}` },
        () => void copyText(pretty(text)),
        icon('copy', 15),
        'Copy',
      ),
    ),
    jsonView(text, label),
  )
}
