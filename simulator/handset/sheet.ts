import { button, type Child, el } from './dom.ts'
import { icon } from './icons.ts'

let screen: HTMLElement | undefined
let closeOpen: (() => void) | undefined

/** Sets the element that sheets are shown in: the phone's screen. */
export function setScreen(element: HTMLElement): void {
  screen = element
}

export interface Sheet {
  close: () => void
  /** Replaces the title and content, and focuses the first control. */
  show: (title: string, ...content: Child[]) => void
}

/** Opens a sheet over the chat. It traps the focus until it is closed, and then restores it. */
export function openSheet(title: string, draw: (sheet: Sheet) => Child, className = ''): void {
  if (!screen) return
  closeOpen?.()
  const opener = document.activeElement
  const heading = el('h2', { id: 'sheet-title' }, title)
  const body = el('div', { class: 'sheet-body' })
  const panel = el(
    'div',
    { class: `sheet ${className}`, role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': 'sheet-title' },
    el(
      'header',
      { class: 'sheet-head' },
      heading,
      button({ class: 'round', 'aria-label': 'Close' }, () => close(), icon('close')),
    ),
    body,
  )
  const backdrop = el(
    'div',
    { class: 'backdrop', on: { click: (event) => event.target === backdrop && close() } },
    panel,
  )
  const background = [...screen.children]
  const close = () => {
    for (const one of background) one.removeAttribute('inert')
    backdrop.remove()
    closeOpen = undefined
    if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    else screen?.querySelector('textarea')?.focus()
  }
  panel.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
    if (event.key === 'Tab') trapFocus(event, panel)
  })
  const show: Sheet['show'] = (newTitle, ...content) => {
    heading.textContent = newTitle
    body.replaceChildren(el('div', { class: 'sheet-content' }, ...content))
    body.scrollTop = 0
    focusFirst(body, panel)
  }
  for (const one of background) one.setAttribute('inert', '')
  closeOpen = close
  screen.append(backdrop)
  const content = draw({ close, show })
  if (content) show(title, content)
}

const focusable = 'a[href], button:not([disabled]), input:not([disabled]), textarea, select, [tabindex="0"]'

function trapFocus(event: KeyboardEvent, panel: HTMLElement): void {
  const stops = [...panel.querySelectorAll<HTMLElement>(focusable)].filter((one) => one.offsetParent !== null)
  const [first, last] = [stops[0], stops.at(-1)]
  if (event.shiftKey ? document.activeElement !== first : document.activeElement !== last) return
  event.preventDefault()
  ;(event.shiftKey ? last : first)?.focus()
}

function focusFirst(body: HTMLElement, panel: HTMLElement): void {
  const first = body.querySelector<HTMLElement>(focusable) ?? panel.querySelector<HTMLElement>(focusable)
  first?.focus({ preventScroll: true })
}
