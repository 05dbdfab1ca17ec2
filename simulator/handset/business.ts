import { performBusinessAction, withErrorToast } from './actions.ts'
import { control } from './api.ts'
import { button, type Child, el } from './dom.ts'
import { labelledField, textField } from './field.ts'
import { type IconName, icon } from './icons.ts'
import { parsed } from './json.ts'
import { openSheet } from './sheet.ts'
import { business, me, state } from './state.ts'
import { showTab } from './tabs.ts'
import { toast } from './toast.ts'

/** Whether an agent of Meta handles the open chat. */
export const isWithAgent = (): boolean => me()?.withAgent?.includes(state.to) ?? false

export async function setAgent(isOn: boolean): Promise<void> {
  await performBusinessAction('handover', { phone: state.me, owner: isOn ? 'agent' : 'business' })
}

/** What the business does outside the API: in the Business app, and through the agent. */
export function businessButtons(): Child[] {
  const number = business()
  if (!number || !me()) return []
  const isOnApp = number.isOnBizApp
  return [
    isOnApp &&
      action('write', 'bag', 'Write in the Business app', () => openWriter('echo', 'Write in the Business app')),
    isWithAgent() && action('agent', 'smile', 'Write as the agent', () => openWriter('agentSay', 'Write as the agent')),
    isOnApp && action('history', 'clock', 'Share history', () => share('history', 'a chunk of history')),
    isOnApp && action('contacts', 'person', 'Share contacts', () => share('contacts', 'the contacts')),
    action('update', 'wire', 'Post any update', openUpdate),
  ]
}

function action(key: string, name: IconName, label: string, run: () => void): HTMLElement {
  return button({ class: 'rail-action', 'data-key': key }, run, icon(name, 18), label)
}

async function share(what: 'history' | 'contacts', label: string): Promise<void> {
  if (await performBusinessAction(what, {})) toast(`Sent ${label}.`)
}

function openWriter(name: 'echo' | 'agentSay', title: string): void {
  showTab('phone')
  openSheet(title, ({ close }) => {
    const text = textArea('Text', 4)
    const send = async () => {
      const words = text.control.value.trim()
      text.showProblem(words ? undefined : 'Enter a text.')
      if (words && (await performBusinessAction(name, { phone: state.me, text: words }))) close()
    }
    return [text.view, button({ class: 'primary' }, () => void send(), 'Send')]
  })
}

/** Any field with any JSON value, for fields that the simulator does not know. */
function openUpdate(): void {
  showTab('phone')
  openSheet('Post any update', ({ close }) => {
    const field = textField('Field', { name: 'field', maxlength: 60, placeholder: 'calls' }, (text) =>
      text ? undefined : 'Enter the field of the webhook.',
    )
    const value = textArea('Value (JSON)', 8, '{}')
    const post = async () => {
      const name = field.read()
      const json = parsed(value.control.value)
      value.showProblem(json === undefined ? 'This is not valid JSON.' : undefined)
      const account = business()?.wabaId
      if (!name || json === undefined || !account) return
      if ((await withErrorToast(() => control.notify(account, name, json))) === undefined) return
      close()
      toast(`Posted a webhook with the field ${name}.`)
    }
    return [field.view, value.view, button({ class: 'primary' }, () => void post(), 'Post')]
  })
}

function textArea(label: string, rows: number, text = '') {
  const control = el('textarea', { rows }, text)
  return { control, ...labelledField(label, control) }
}
