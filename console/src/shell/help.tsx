import { useLetterKeys } from '../lib/keyboard.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Switch } from '../ui/fields.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { useDestinations } from './access.ts'
import styles from './help.module.css'

/** The dialog that lists the shortcuts of all pages. */
export function Help({ open, onClose }: { open: boolean; onClose: () => void }) {
  const destinations = useDestinations()
  const [letters, setLetters] = useLetterKeys()
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
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts" size="l">
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
