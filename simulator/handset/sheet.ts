import { button, type Child, el } from './dom.ts'
import { icon } from './icons.ts'

let screen: HTMLElement | undefined
let closeOpen: (() => void) | undefined

/** Where sheets rise: the phone's screen. */
export function useScreen(element: HTMLElement): void {
  screen = element
}

export interface Sheet {
  close: () => void
  /** Draws the content anew, and puts the focus where the person goes on. */
  show: (title: string, ...content: Child[]) => void
}

/** Raises a sheet over the chat. It holds the focus until it is closed, and gives it back then. */
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
  const veil = el('div', { class: 'veil', on: { click: (event) => event.target === veil && close() } }, panel)
  const behind = [...screen.children]
  const close = () => {
    for (const one of behind) one.removeAttribute('inert')
    veil.remove()
    closeOpen = undefined
    if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    else screen?.querySelector('textarea')?.focus()
  }
  panel.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
    if (event.key === 'Tab') keepFocus(event, panel)
  })
  const show: Sheet['show'] = (words, ...content) => {
    heading.textContent = words
    body.replaceChildren(el('div', { class: 'sheet-content' }, ...content))
    body.scrollTop = 0
    focusFirst(body, panel)
  }
  for (const one of behind) one.setAttribute('inert', '')
  closeOpen = close
  screen.append(veil)
  const content = draw({ close, show })
  if (content) show(title, content)
}

const reachable = 'a[href], button:not([disabled]), input:not([disabled]), textarea, select, [tabindex="0"]'

function keepFocus(event: KeyboardEvent, panel: HTMLElement): void {
  const stops = [...panel.querySelectorAll<HTMLElement>(reachable)].filter((one) => one.offsetParent !== null)
  const [first, last] = [stops[0], stops.at(-1)]
  if (event.shiftKey ? document.activeElement !== first : document.activeElement !== last) return
  event.preventDefault()
  ;(event.shiftKey ? last : first)?.focus()
}

function focusFirst(body: HTMLElement, panel: HTMLElement): void {
  const first = body.querySelector<HTMLElement>(reachable) ?? panel.querySelector<HTMLElement>(reachable)
  first?.focus({ preventScroll: true })
}
