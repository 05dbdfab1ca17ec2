import { el } from './dom.ts'

const box = el('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' })

export const toasts = (): HTMLElement => box

/** A sentence that stays for a while. */
export function toast(words: string): void {
  const note = el('p', { class: 'toast' }, words)
  box.append(note)
  setTimeout(() => note.remove(), 5000)
}

export async function copyText(text: string, done = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(done)
  } catch {
    toast('The browser did not allow copying.')
  }
}
