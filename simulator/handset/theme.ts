import { button } from './dom.ts'
import { icon } from './icons.ts'
import { linked, readPreference, savePreference } from './selection.ts'

type Theme = 'light' | 'dark'

/** The theme switch. The theme follows the system until the user chooses one. */
export function themeSwitch(): HTMLElement {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  let chosen = linkedTheme() ?? savedTheme()
  const view = button({ class: 'round' }, () => {
    chosen = current() === 'dark' ? 'light' : 'dark'
    savePreference('theme', chosen)
    draw()
  })
  const current = (): Theme => chosen ?? (dark.matches ? 'dark' : 'light')
  const draw = () => {
    if (chosen) document.documentElement.dataset.theme = chosen
    view.replaceChildren(icon(current() === 'dark' ? 'sun' : 'moon', 19))
    view.setAttribute('aria-label', current() === 'dark' ? 'Use light theme' : 'Use dark theme')
  }
  dark.addEventListener('change', draw)
  addEventListener('hashchange', () => {
    chosen = linkedTheme() ?? chosen
    draw()
  })
  draw()
  return view
}

const savedTheme = () => asTheme(readPreference('theme'))
const linkedTheme = () => asTheme(linked('theme'))

const asTheme = (text: string | null): Theme | undefined => (text === 'light' || text === 'dark' ? text : undefined)
