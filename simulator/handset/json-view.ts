import { type Child, el } from './dom.ts'
import { parsed } from './json.ts'

const tokens = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)/gi

/** Pretty-printed JSON with syntax highlighting. Other text is shown unchanged. */
export function jsonView(text: string, label: string): HTMLElement {
  return el('pre', { class: 'json', tabindex: '0', role: 'region', 'aria-label': label }, ...highlighted(pretty(text)))
}

export function pretty(text: string): string {
  const value = parsed(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

function highlighted(text: string): Child[] {
  const parts: Child[] = []
  let end = 0
  for (const found of text.matchAll(tokens)) {
    const [token, string, colon, word] = found
    parts.push(text.slice(end, found.index))
    if (string !== undefined)
      parts.push(el('span', { class: colon === undefined ? 'json-text' : 'json-key' }, string), colon)
    else parts.push(el('span', { class: word === undefined ? 'json-number' : 'json-word' }, token))
    end = found.index + token.length
  }
  return [...parts, text.slice(end)]
}
