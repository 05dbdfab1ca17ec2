/**
 * The open chat. It is in the URL, `#from=16505550123&to=106540000000001`, so that the link can be shared, and in local
 * storage for the next visit without it.
 */
export function selected(name: 'from' | 'to', options: string[]): string {
  const candidates = [new URLSearchParams(location.hash.slice(1)).get(name), readPreference(name)]
  return candidates.find((one) => one !== null && options.includes(one)) ?? options[0] ?? ''
}

export function saveSelection(from: string, to: string): void {
  history.replaceState(null, '', `#${new URLSearchParams({ from, to })}`)
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
