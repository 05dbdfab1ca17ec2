import { attempt } from './acts.ts'
import { control, type NetworkLogEntry } from './api.ts'
import { calm } from './chat.ts'
import { button, el, fill } from './dom.ts'
import { icon } from './icons.ts'
import { type EntryView, newEntry } from './network-log-entry.ts'
import { whenShown } from './pointing.ts'
import { changed, on, state } from './state.ts'

type Filter = 'all' | 'webhook' | 'call'

const filters: [Filter, string][] = [
  ['all', 'All'],
  ['webhook', 'Webhooks'],
  ['call', 'Calls'],
]

/** Everything between the network and the app, newest on top. */
export function networkLogView(): HTMLElement {
  let filter: Filter = 'all'
  let paused: NetworkLogEntry[] | null = null
  let views = new Map<NetworkLogEntry, EntryView>()
  const list = el('ol', { class: 'entries', 'aria-label': 'Wire', tabindex: '-1' })
  const tools = el('div', { class: 'wire-tools' })
  const draw = () => {
    const entries = (paused ?? state.wire).filter((one) => filter === 'all' || one.kind === filter).toReversed()
    views = new Map(entries.map((entry) => [entry, views.get(entry) ?? newEntry(entry)]))
    const fresh = [...views.values()].map(({ view }) => view)
    place(list, fresh.length > 0 ? fresh : [nothing(filter)])
    light()
  }
  const light = () => {
    for (const { view, messages } of views.values())
      view.classList.toggle(
        'marked',
        messages.some((id) => state.marked.has(id)),
      )
  }
  const drawTools = () => fill(tools, ...toolsOf())
  const toolsOf = () => {
    const waiting = paused ? state.wire.filter((entry) => !paused?.includes(entry)).length : 0
    return [
      el(
        'div',
        { class: 'segments', role: 'group', 'aria-label': 'Show' },
        filters.map(([name, label]) => button({ 'aria-pressed': String(filter === name) }, () => choose(name), label)),
      ),
      button(
        {
          class: `tool ${paused ? 'on' : ''}`,
          'aria-pressed': String(paused !== null),
          'aria-label': paused ? 'Go on' : 'Pause',
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
    paused = paused ? null : [...state.wire]
    redraw()
  }
  const clear = async () => {
    await attempt(() => control.clearLog())
    state.wire = []
    paused = null
    changed('wire')
  }
  on('entry', () => (paused ? redraw() : draw()))
  on('wire', redraw)
  on('mark', light)
  whenShown((where, ids) => {
    if (where !== 'wire') return
    const newest = [...views.values()].find(({ messages }) => messages.some((id) => ids.includes(id)))
    newest?.view.scrollIntoView({ block: 'nearest', behavior: calm() ? 'auto' : 'smooth' })
  })
  redraw()
  return el(
    'section',
    { class: 'wire', 'aria-label': 'The wire' },
    el('header', { class: 'wire-head' }, el('h2', {}, 'The wire'), tools),
    list,
  )
}

function nothing(filter: Filter): HTMLElement {
  const words = {
    all: 'Nothing has crossed the wire yet.',
    webhook: 'No webhook was posted yet.',
    call: 'The app has not called yet.',
  }
  return el(
    'li',
    { class: 'nothing' },
    el('p', {}, el('strong', {}, words[filter])),
    el('p', {}, 'Webhooks to the app and its calls to the Graph API appear here as they happen.'),
  )
}

/** Puts the views in this order; one that is there already is not touched, so that what is open stays as it is. */
function place(list: HTMLElement, views: HTMLElement[]): void {
  const wanted = new Set<Element>(views)
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove()
  let cursor = list.firstElementChild
  for (const view of views) {
    if (view === cursor) cursor = cursor.nextElementSibling
    else list.insertBefore(view, cursor)
  }
}
