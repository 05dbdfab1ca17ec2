/**
 * Which chat is open: in the address, `#from=16505550123&to=106540000000001`, so that a colleague who gets it sees the
 * same; and remembered, for whoever comes back without one.
 */
export function chosen(name: 'from' | 'to', among: string[]): string {
  const wanted = [new URLSearchParams(location.hash.slice(1)).get(name), remembered(name)]
  return wanted.find((one) => one !== null && among.includes(one)) ?? among[0] ?? ''
}

export function keepChosen(from: string, to: string): void {
  history.replaceState(null, '', `#${new URLSearchParams({ from, to })}`)
  for (const [name, value] of Object.entries({ from, to })) remember(name, value)
}

/** A browser may refuse to keep anything; a choice then lasts as long as the page. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`handset.${name}`, value)
  } catch {}
}

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`handset.${name}`)
  } catch {
    return null
  }
}
