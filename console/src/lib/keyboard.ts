import { useEffect, useRef } from 'react'
import { remember, remembered } from './storage.ts'
import { createStore, useStore } from './store.ts'

const letters = createStore(remembered('letter-keys') !== 'off')

/** Whether single-letter shortcuts are on. People who use speech input can turn them off. */
export function useLetterKeys(): [boolean, (on: boolean) => void] {
  return [
    useStore(letters),
    (on) => {
      remember('letter-keys', on ? null : 'off')
      letters.set(on)
    },
  ]
}

export const areLetterKeysOn = () => letters.get()

/**
 * Whether the keys belong to a field, or to a dialog or menu above the page or, with `inDrawer`, above its drawer. A drawer
 * next to the page is not above it.
 */
export function isTyping(event: KeyboardEvent, inDrawer = false): boolean {
  const target = event.target as HTMLElement | null
  if (target?.closest('input, textarea, select, [contenteditable="true"]')) return true
  // A closed select keeps its hidden list in the page.
  return [...document.querySelectorAll('[role="dialog"], [role="menu"], [role="listbox"]')].some(
    (open) => open.checkVisibility() && !open.matches(inDrawer ? '[data-drawer]' : '[data-drawer="docked"]'),
  )
}

/**
 * Calls `act` on a key such as 'j' or '/', unless the person is typing or has turned single-letter shortcuts off. With
 * `inDrawer`, even while a drawer covers the page, with nothing above it.
 */
export function useLetterKey(
  key: string,
  act: (event: KeyboardEvent) => void,
  enabled = true,
  { inDrawer = false } = {},
): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (!enabled) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== key || event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (areLetterKeysOn() && !isTyping(event, inDrawer)) latest.current(event)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [key, enabled, inDrawer])
}
