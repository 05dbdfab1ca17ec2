import { button, el } from './dom.ts'
import { type IconName, icon } from './icons.ts'

export type Tab = 'people' | 'phone' | 'wire'

const tabs: [Tab, IconName, string][] = [
  ['people', 'person', 'Phones'],
  ['phone', 'smile', 'Chat'],
  ['wire', 'wire', 'Network log'],
]

/** On a narrow screen only one section is shown at a time. */
export function tabsView(): HTMLElement {
  return el(
    'nav',
    { class: 'tabs', 'aria-label': 'Sections' },
    tabs.map(([tab, name, label]) =>
      button({ class: 'tab', 'data-tab': tab }, () => showTab(tab), icon(name, 22), label),
    ),
  )
}

export function showTab(tab: Tab): void {
  document.body.dataset.tab = tab
  for (const one of document.querySelectorAll<HTMLElement>('.tab')) {
    if (one.dataset.tab === tab) one.setAttribute('aria-current', 'page')
    else one.removeAttribute('aria-current')
  }
}
