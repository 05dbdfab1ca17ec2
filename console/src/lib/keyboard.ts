import { useEffect, useRef } from 'react'
import { remember, remembered } from './storage.ts'
import { createStore, useStore } from './store.ts'

const letters = createStore(remembered('letter-keys') !== 'off')

/** Whether single letters are shortcuts; a person may turn them off, for speech input and the like. */
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

/** Whether keys now belong to a field or to something open above the page. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null
  if (target?.closest('input, textarea, select, [contenteditable="true"]')) return true
  // A closed select keeps its list in the page, unseen.
  return [...document.querySelectorAll('[role="dialog"], [role="menu"], [role="listbox"]')].some((open) =>
    open.checkVisibility(),
  )
}

/** Calls `act` on a plain key such as 'j' or '/', unless the person is typing or turned letters off. */
export function useLetterKey(key: string, act: (event: KeyboardEvent) => void, enabled = true): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (!enabled) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== key || event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (areLetterKeysOn() && !isTyping(event)) latest.current(event)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [key, enabled])
}
