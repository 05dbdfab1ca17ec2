import { withErrorToast } from './actions.ts'
import { control, type NetworkLogEntry } from './api.ts'
import { prefersReducedMotion } from './chat.ts'
import { button, el, fill } from './dom.ts'
import { onReveal } from './highlight.ts'
import { icon } from './icons.ts'
import { type EntryView, newEntry } from './network-log-entry.ts'
import { changed, on, state } from './state.ts'

type Filter = 'all' | 'webhook' | 'call'

const filters: [Filter, string][] = [
  ['all', 'All'],
  ['webhook', 'Webhooks'],
  ['call', 'Requests'],
]

/** The webhooks and API requests between the network and the app, newest first. */
export function networkLogView(): HTMLElement {
  let filter: Filter = 'all'
  let paused: NetworkLogEntry[] | null = null
  let views = new Map<NetworkLogEntry, EntryView>()
  const list = el('ol', { class: 'entries', 'aria-label': 'Network log', tabindex: '-1' })
  const tools = el('div', { class: 'wire-tools' })
  const draw = () => {
    const entries = (paused ?? state.log).filter((one) => filter === 'all' || one.kind === filter).toReversed()
    views = new Map(entries.map((entry) => [entry, views.get(entry) ?? newEntry(entry)]))
    const items = [...views.values()].map(({ view }) => view)
    updateList(list, items.length > 0 ? items : [emptyLog(filter)])
    highlightEntries()
  }
  const highlightEntries = () => {
    for (const { view, messages } of views.values())
      view.classList.toggle(
        'marked',
        messages.some((id) => state.highlighted.has(id)),
      )
  }
  const drawTools = () => fill(tools, ...toolsOf())
  const toolsOf = () => {
    const waiting = paused ? state.log.filter((entry) => !paused?.includes(entry)).length : 0
    return [
      el(
        'div',
        { class: 'segments', role: 'group', 'aria-label': 'Filter' },
        filters.map(([name, label]) => button({ 'aria-pressed': String(filter === name) }, () => choose(name), label)),
      ),
      button(
        {
          class: `tool ${paused ? 'on' : ''}`,
          'aria-pressed': String(paused !== null),
          'aria-label': paused ? 'Resume' : 'Pause',
        },
        pause,
        icon(paused ? 'play' : 'pause', 17),
        paused && waiting > 0 && `${waiting}`,
      ),
      button({ class: 'tool', 'aria-label': 'Clear' }, clear, icon('trash', 17)),
    ]
  }
  const redraw = () => {
    const at = [...tools.querySelectorAll('button')].indexOf(document.activeElement as HTMLButtonElement)
    drawTools()
    if (at >= 0) tools.querySelectorAll('button')[at]?.focus()
    draw()
  }
  const choose = (name: Filter) => {
    filter = name
    redraw()
  }
  const pause = () => {
    paused = paused ? null : [...state.log]
    redraw()
  }
  const clear = async () => {
    await withErrorToast(() => control.clearLog())
    state.log = []
    paused = null
    changed('wire')
  }
  on('entry', () => (paused ? redraw() : draw()))
  on('wire', redraw)
  on('mark', highlightEntries)
  onReveal((where, ids) => {
    if (where !== 'wire') return
    const newest = [...views.values()].find(({ messages }) => messages.some((id) => ids.includes(id)))
    newest?.view.scrollIntoView({ block: 'nearest', behavior: prefersReducedMotion() ? 'auto' : 'smooth' })
  })
  redraw()
  return el(
    'section',
    { class: 'wire', 'aria-label': 'Network log' },
    el('header', { class: 'wire-head' }, el('h2', {}, 'Network log'), tools),
    list,
  )
}

function emptyLog(filter: Filter): HTMLElement {
  const titles = {
    all: 'No network traffic yet.',
    webhook: 'No webhooks yet.',
    call: 'No API requests yet.',
  }
  return el(
    'li',
    { class: 'nothing' },
    el('p', {}, el('strong', {}, titles[filter])),
    el('p', {}, 'Webhooks to the app and its Graph API requests appear here as they happen.'),
  )
}

/** Updates the list without touching existing views, so that expanded entries stay expanded. */
function updateList(list: HTMLElement, views: HTMLElement[]): void {
  const current = new Set<Element>(views)
  for (const child of [...list.children]) if (!current.has(child)) child.remove()
  let cursor = list.firstElementChild
  for (const view of views) {
    if (view === cursor) cursor = cursor.nextElementSibling
    else list.insertBefore(view, cursor)
  }
}
