import { createStore, useStore } from '../lib/store.ts'

const words = createStore('')

/** Says something to those who listen rather than look: "Copied", "Retry queued". */
export function announce(message: string): void {
  // The same words twice would not be read twice; a trailing space makes them new.
  words.set((before) => (before === message ? `${message} ` : message))
}

export function LiveRegion() {
  return (
    <output className="unseen" aria-live="polite">
      {useStore(words)}
    </output>
  )
}
