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

// Creating a format takes longer than everything else in a message.
const minutes = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

export const clockTime = (iso: string): string => minutes.format(new Date(iso))

export const clockTimeWithSeconds = (iso: string): string => seconds.format(new Date(iso))

/** 2026-11-15 06:30:14.120 UTC: compares with logs. */
export const utcTime = (iso: string): string => `${new Date(iso).toISOString().replace('T', ' ').replace('Z', '')} UTC`

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

/** Calling codes with one or two digits (ITU E.164); every other code has three. */
const shortCallingCode = /^(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/

/** A phone number in groups of digits: 16505550123 is shown as +1 650-555-0123. */
export function formatPhone(phone: string): string {
  const digits = phone.replaceAll(/\D/g, '')
  if (digits === '') return phone
  if (/^1\d{10}$/.test(digits)) return `+1 ${digits.slice(1, 4)}-${digits.slice(4, 7)}-${digits.slice(7)}`
  const code = shortCallingCode.exec(digits)?.[0] ?? digits.slice(0, 3)
  const national = digits.slice(code.length)
  return `+${[code, national.slice(0, 3), national.slice(3)].filter(Boolean).join(' ')}`
}

/** A hash of the text (FNV-1a), as the seed of generated pictures. */
export function seedOf(text: string): number {
  let seed = 2166136261
  for (const letter of text) seed = Math.imul(seed ^ (letter.codePointAt(0) ?? 0), 16777619)
  return seed >>> 0
}
