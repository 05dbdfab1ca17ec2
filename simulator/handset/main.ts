import { el } from './dom.ts'
import { goLive, openChat } from './live.ts'
import { networkLogView } from './network-log.ts'
import { peopleView } from './people.ts'
import { phoneView } from './phone.ts'
import { whenShown } from './pointing.ts'
import { showTab, tabsView } from './tabs.ts'
import { toasts } from './toast.ts'
import { topView } from './top.ts'

document.body.replaceChildren(
  topView(),
  el('main', { class: 'stage' }, peopleView(), phoneView(), networkLogView()),
  tabsView(),
  toasts(),
)
showTab('phone')
whenShown((where) => showTab(where === 'chat' ? 'phone' : 'wire'))
document.addEventListener('visibilitychange', openChat)
goLive()
