import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { areLetterKeysOn, isTyping, useLetterKeys } from '../lib/keyboard.ts'
import { createStore, useStore } from '../lib/store.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Switch } from '../ui/fields.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { useDestinations } from './access.ts'
import styles from './shortcuts.module.css'

const help = createStore(false)

export const openHelp = () => help.set(true)

/** The shortcuts that work on every page, and the dialog that lists them. */
export function Shortcuts({ onPalette }: { onPalette: () => void }) {
  const isOpen = useStore(help)
  const destinations = useDestinations()
  const navigate = useNavigate()
  const [letters, setLetters] = useLetterKeys()
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

  const rows: [string, string][] = [
    ['mod k', 'Open search'],
    ['/', 'Search on this page, or everywhere if it has no search'],
    ['j', 'Next row, also of an open panel'],
    ['k', 'Previous row, also of an open panel'],
    ['Enter', 'Open the selected row'],
    ['Esc', 'Close the dialog or panel'],
    ['?', 'Show keyboard shortcuts'],
  ]
  return (
    <Dialog open={isOpen} onClose={() => help.set(false)} title="Keyboard shortcuts" size="l">
      <Switch
        label="Single-letter shortcuts"
        description="Turn them off if they interfere with speech input or a browser extension."
        checked={letters}
        onChange={(event) => setLetters(event.currentTarget.checked)}
      />
      <div className={styles.columns}>
        <List title="Everywhere" rows={rows} />
        <List
          title="Go to"
          rows={destinations.flatMap(({ nav, title }) => (nav?.letter ? [[`g ${nav.letter}`, title]] : []))}
        />
      </div>
    </Dialog>
  )
}

function List({ title, rows }: { title: string; rows: readonly (readonly [string, string] | string[])[] }) {
  return (
    <section>
      <h3 className={styles.title}>{title}</h3>
      <dl>
        {rows.map(([keys, words]) => (
          <div key={keys} className={styles.row}>
            <dt>{words}</dt>
            <dd>
              <Kbd keys={keys ?? ''} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
