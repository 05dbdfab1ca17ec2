import { type Child, el } from './dom.ts'
import { parsed } from './json.ts'

const pieces = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)/gi

/** JSON set out over lines and coloured; what is not JSON stays as it is. */
export function jsonView(text: string, label: string): HTMLElement {
  return el('pre', { class: 'json', tabindex: '0', role: 'region', 'aria-label': label }, ...coloured(pretty(text)))
}

export function pretty(text: string): string {
  const value = parsed(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

function coloured(text: string): Child[] {
  const parts: Child[] = []
  let end = 0
  for (const found of text.matchAll(pieces)) {
    const [whole, string, colon, word] = found
    parts.push(text.slice(end, found.index))
    if (string !== undefined)
      parts.push(el('span', { class: colon === undefined ? 'json-text' : 'json-key' }, string), colon)
    else parts.push(el('span', { class: word === undefined ? 'json-number' : 'json-word' }, whole))
    end = found.index + whole.length
  }
  return [...parts, text.slice(end)]
}
