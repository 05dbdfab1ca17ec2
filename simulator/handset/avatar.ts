import { el } from './dom.ts'
import { seedOf } from './text.ts'

const shades = 8

/** Initials on a color derived from the name. */
export function avatar(name: string, size: 'small' | 'large' = 'small'): HTMLElement {
  const letters = name
    .split(/\s+/)
    .filter((word) => /^\p{L}/u.test(word))
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase())
    .join('')
  return el('span', { class: `avatar ${size} shade-${seedOf(name) % shades}`, 'aria-hidden': 'true' }, letters || '#')
}
