import { createStore, useStore } from '../lib/store.ts'

const message = createStore('')

/** Announces a text to screen readers: "Copied", "Retry queued". */
export function announce(text: string): void {
  // Screen readers skip an unchanged text; a trailing space makes it a new one.
  message.set((before) => (before === text ? `${text} ` : text))
}

export function LiveRegion() {
  return (
    <output className="unseen" aria-live="polite">
      {useStore(message)}
    </output>
  )
}
