import { remember, remembered } from './chosen.ts'
import { button } from './dom.ts'
import { icon } from './icons.ts'

type Theme = 'light' | 'dark'

/** Light or dark: as the system says, until somebody says otherwise. */
export function themeSwitch(): HTMLElement {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  let chosen = kept()
  const view = button({ class: 'round' }, () => {
    chosen = now() === 'dark' ? 'light' : 'dark'
    remember('theme', chosen)
    draw()
  })
  const now = (): Theme => chosen ?? (dark.matches ? 'dark' : 'light')
  const draw = () => {
    if (chosen) document.documentElement.dataset.theme = chosen
    view.replaceChildren(icon(now() === 'dark' ? 'sun' : 'moon', 19))
    view.setAttribute('aria-label', now() === 'dark' ? 'Light colours' : 'Dark colours')
  }
  dark.addEventListener('change', draw)
  draw()
  return view
}

function kept(): Theme | undefined {
  const theme = remembered('theme')
  return theme === 'light' || theme === 'dark' ? theme : undefined
}
