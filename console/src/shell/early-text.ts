import { useEffect } from 'react'

let typed = ''

/** What was typed into the search before it was loaded. */
export function useEarlyText(): string {
  useEffect(() => {
    typed = ''
  }, [])
  return typed
}

/** Keeps what a person types while the search is loading, so that no shortcut of the page gets it. */
export function EarlyText() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'Backspace') typed = typed.slice(0, -1)
      else if (event.key.length === 1) typed += event.key
      else return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    // On the window, because the shortcuts listen on the document.
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [])
  return null
}
