import { el } from './dom.ts'
import { on, state } from './state.ts'
import { themeSwitch } from './theme.ts'

export function pageHeader(): HTMLElement {
  const live = el('span', { class: 'live', role: 'status' }, 'Connecting')
  on('live', () => {
    live.textContent = state.isLive ? 'Live' : 'Reconnecting'
    live.classList.toggle('on', state.isLive)
  })
  return el(
    'header',
    { class: 'top' },
    el(
      'a',
      { class: 'brand', href: '/' },
      el('img', { src: '/handset/icon.svg', alt: '', width: 26, height: 26 }),
      el('strong', {}, 'Parley'),
      el('span', {}, 'Handset'),
    ),
    el('p', { class: 'notice' }, 'Simulated network. Nothing here reaches a real phone.'),
    live,
    el('a', { class: 'top-link', href: '/status' }, 'Status'),
    el('a', { class: 'top-link', href: '/manual' }, 'Manual'),
    themeSwitch(),
  )
}
