/** What this browser remembers; a browser that keeps nothing is no fault. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`parley.${key}`)
  } catch {
    return null
  }
}

export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`parley.${key}`)
    else localStorage.setItem(`parley.${key}`, value)
  } catch {
    // Private windows may refuse; the choice then lasts as long as the page.
  }
}
