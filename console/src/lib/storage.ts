/** Reads and writes localStorage. A browser that blocks it only loses the setting. */
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
    // Private windows may block it; the setting then lasts until the page is closed.
  }
}
