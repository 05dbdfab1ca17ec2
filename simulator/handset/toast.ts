import { el } from './dom.ts'

const box = el('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' })

export const toasts = (): HTMLElement => box

/** Shows a message for five seconds. */
export function toast(text: string): void {
  const note = el('p', { class: 'toast' }, text)
  box.append(note)
  setTimeout(() => note.remove(), 5000)
}

export async function copyText(text: string, done = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(done)
  } catch {
    toast('Could not copy. Allow clipboard access in your browser.')
  }
}
