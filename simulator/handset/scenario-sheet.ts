import { withErrorToast } from './actions.ts'
import { control } from './api.ts'
import { button, type Child, el } from './dom.ts'
import { icon } from './icons.ts'
import { openSheet } from './sheet.ts'
import { business, chat, state } from './state.ts'
import { showTab } from './tabs.ts'
import { toast } from './toast.ts'

/** Saves the open chat as a scenario, if there is something to save. */
export function scenarioButton(): Child {
  if (chat().length === 0) return null
  return button(
    { class: 'rail-action', 'data-key': 'scenario', 'aria-haspopup': 'dialog' },
    openScenario,
    icon('form', 18),
    'Save as scenario',
  )
}

function openScenario(): void {
  showTab('phone')
  openSheet('Save as scenario', ({ close }) => {
    const keeps = el('input', { type: 'checkbox' })
    const save = async () => {
      const scenario = await withErrorToast(() => control.scenario(state.me, state.to, keeps.checked))
      if (!scenario) return
      close()
      const name = `scenario-${business()?.phoneNumber ?? state.to}.json`
      download(name, `${JSON.stringify(scenario, null, 2)}\n`)
      toast(`Saved ${name}.`)
    }
    return [
      el(
        'p',
        {},
        'A test plays this chat with phone.play(). Texts, numbers, form values and files are replaced. IDs of buttons and products, and emojis, stay.',
      ),
      el('label', { class: 'option' }, keeps, el('span', {}, 'Keep what was written')),
      button({ class: 'primary' }, () => void save(), 'Save'),
    ]
  })
}

function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  el('a', { href, download: name }).click()
  // The browser has started the download by then.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
