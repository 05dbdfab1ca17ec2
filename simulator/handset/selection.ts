import type { Phone, PhoneNumber } from './api.ts'

/**
 * The open chat. It is in the URL, `#from=16505550123&to=106540000000001`, so that the link can be shared, and in local
 * storage for the next visit without it. Links may also have the phone number of the business, and the person's user ID.
 */
export function selectedPhone(people: readonly Phone[]): string {
  const find = (value: string | null) => people.find(({ waId, userId }) => value === waId || value === userId)?.waId
  return find(linked('from')) ?? find(readPreference('from')) ?? people[0]?.waId ?? ''
}

export function selectedNumber(numbers: readonly PhoneNumber[]): string {
  const find = (value: string | null) =>
    numbers.find(({ id, phoneNumber }) => value === id || value === phoneNumber)?.id
  return find(linked('to')) ?? find(readPreference('to')) ?? numbers[0]?.id ?? ''
}

/** A value of the URL. The console sets `theme` too, when it shows the handset in a frame. */
export const linked = (name: 'from' | 'to' | 'theme'): string | null =>
  new URLSearchParams(location.hash.slice(1)).get(name)

export const isFramed = window.top !== window.self

export function saveSelection(from: string, to: string): void {
  const theme = linked('theme')
  history.replaceState(null, '', `#${new URLSearchParams({ from, to, ...(theme && { theme }) })}`)
  for (const [name, value] of Object.entries({ from, to })) savePreference(name, value)
}

/** If the browser blocks local storage, the preference lasts until the page is closed. */
export function savePreference(name: string, value: string): void {
  try {
    localStorage.setItem(`handset.${name}`, value)
  } catch {}
}

export function readPreference(name: string): string | null {
  try {
    return localStorage.getItem(`handset.${name}`)
  } catch {
    return null
  }
}
