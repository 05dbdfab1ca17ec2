import { type Child, el } from './dom.ts'

const marks: [RegExp, 'code' | 'strong' | 'em' | 's'][] = [
  [/```([\s\S]+?)```/, 'code'],
  [/(?<![\w*])\*(\S(?:[^*\n]*\S)?)\*(?![\w*])/, 'strong'],
  [/(?<![\w_])_(\S(?:[^_\n]*\S)?)_(?![\w_])/, 'em'],
  [/(?<![\w~])~(\S(?:[^~\n]*\S)?)~(?![\w~])/, 's'],
]

const urlPattern = /\bhttps?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]]/

/** Renders chat formatting: *bold*, _italic_, ~strikethrough~, ```code``` and links. */
export function formatted(text: string): Child[] {
  const link = urlPattern.exec(text)
  if (link) return around(text, link, externalLink(link[0], link[0], 'link'))
  for (const [pattern, tag] of marks) {
    const found = pattern.exec(text)
    if (found) return around(text, found, el(tag, {}, tag === 'code' ? found[1] : formatted(found[1] ?? '')))
  }
  return [text]
}

function around(text: string, found: RegExpExecArray, middle: Child): Child[] {
  return [...formatted(text.slice(0, found.index)), middle, ...formatted(text.slice(found.index + found[0].length))]
}

export const isHttpUrl = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

/** An external link. A URL that is not http or https is shown as text. */
export function externalLink(url: string, label: Child, className: string, ...more: Child[]): HTMLElement {
  if (!isHttpUrl(url)) return el('span', { class: className, title: 'Not a valid http or https URL' }, ...more, label)
  return el(
    'a',
    { class: className, href: url, target: '_blank', rel: 'noopener noreferrer', title: url },
    ...more,
    label,
  )
}

export const clockTime = (iso: string): string =>
  new Date(iso).toLocaleTimeString(undefined, { hour: 'numeric', minute: '2-digit' })

export function dayName(iso: string): string {
  const day = new Date(iso).toDateString()
  const today = new Date()
  if (day === today.toDateString()) return 'Today'
  today.setDate(today.getDate() - 1)
  if (day === today.toDateString()) return 'Yesterday'
  return new Date(iso).toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
}

export function sizeOf(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

export const money = (amount: number, currency: string): string => {
  try {
    return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(amount)
  } catch {
    return `${amount} ${currency}`
  }
}

/** A phone number in groups of digits. */
export function formatPhone(digits: string): string {
  const plain = digits.replaceAll(/\D/g, '')
  if (/^1\d{10}$/.test(plain)) return `+1 ${plain.slice(1, 4)}-${plain.slice(4, 7)}-${plain.slice(7)}`
  return `+${plain.slice(0, 2)} ${plain.slice(2, 5)} ${plain.slice(5)}`.trim()
}

/** A hash of the text (FNV-1a), as the seed of generated pictures. */
export function seedOf(text: string): number {
  let seed = 2166136261
  for (const letter of text) seed = Math.imul(seed ^ (letter.codePointAt(0) ?? 0), 16777619)
  return seed >>> 0
}
