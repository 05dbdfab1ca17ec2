import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { areLetterKeysOn, isTyping } from '../lib/keyboard.ts'
import { useStore } from '../lib/store.ts'
import { useDestinations } from './access.ts'
import { Help } from './dialogs.tsx'
import { help, openHelp } from './help-state.ts'

/** The shortcuts that work on every page. */
export function Shortcuts({ onPalette }: { onPalette: () => void }) {
  const isOpen = useStore(help)
  const destinations = useDestinations()
  const navigate = useNavigate()
  const goPressedAt = useRef(0)

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        onPalette()
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || !areLetterKeysOn() || isTyping(event)) return
      const isAfterGo = Date.now() - goPressedAt.current < 1200
      goPressedAt.current = 0
      if (isAfterGo) {
        const page = destinations.find(({ nav }) => nav?.letter === event.key)
        if (!page) return
        // The page must not handle the second letter as one of its own shortcuts (j, k, /).
        event.preventDefault()
        event.stopImmediatePropagation()
        void navigate({ to: page.to })
      } else if (event.key === 'g') goPressedAt.current = Date.now()
      else if (event.key === '?') openHelp()
      else if (event.key === '/' && !document.querySelector('input[data-slash]')) {
        // A page with a search field of its own focuses that one.
        event.preventDefault()
        onPalette()
      }
    }
    document.addEventListener('keydown', onKey, { capture: true })
    return () => document.removeEventListener('keydown', onKey, { capture: true })
  }, [destinations, navigate, onPalette])

  return <Help open={isOpen} onClose={() => help.set(false)} />
}
