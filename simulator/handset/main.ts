import { connect, followLink, openChat } from './connection.ts'
import { el } from './dom.ts'
import { onReveal } from './highlight.ts'
import { networkLogView } from './network-log.ts'
import { pageHeader } from './page-header.ts'
import { peopleView } from './people.ts'
import { phoneView } from './phone.ts'
import { isFramed } from './selection.ts'
import { showTab, tabsView } from './tabs.ts'
import { toasts } from './toast.ts'

document.body.replaceChildren(
  pageHeader(),
  el('main', { class: 'stage' }, peopleView(), phoneView(), networkLogView()),
  tabsView(),
  toasts(),
)
showTab('phone')
onReveal((where) => showTab(where === 'chat' ? 'phone' : 'wire'))
document.documentElement.toggleAttribute('data-framed', isFramed)
document.addEventListener('visibilitychange', openChat)
addEventListener('hashchange', followLink)
connect()
