import { Modal } from '@mantine/core'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Icon } from '../ui/icon.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { useLayer } from '../ui/layers.ts'
import { useEarlyText } from './early-text.ts'
import styles from './palette.module.css'
import { type Entry, matches, useEntries, useSearchResults } from './palette-entries.ts'

/** The command palette, opened by Ctrl+K or ⌘K: pages, actions and search. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const layer = useLayer(open)
  return (
    <Modal.Root
      opened={open}
      onClose={onClose}
      size={620}
      yOffset="12dvh"
      transitionProps={{ duration: 80 }}
      {...layer}
    >
      <Modal.Overlay />
      <Modal.Content aria-label="Search or jump to">
        <Finder close={onClose} />
      </Modal.Content>
    </Modal.Root>
  )
}

function Finder({ close }: { close: () => void }) {
  const [text, setText] = useState(useEarlyText())
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const entries = useEntries()
  const { results, isSearching, note } = useSearchResults(text)
  const shown = [...entries.filter((entry) => matches(entry, text)), ...results]
  const current = shown[Math.min(at, shown.length - 1)]

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  })
  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    close()
    entry.run()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by) setAt((before) => (Math.min(before, shown.length - 1) + by + shown.length) % Math.max(1, shown.length))
    else if (event.key === 'Enter') choose(current)
    else return
    event.preventDefault()
  }
  return (
    <>
      <div className={styles.search}>
        <Icon name="search" />
        <input
          className={styles.field}
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={current && `${id}${current.id}`}
          aria-label="Search or jump to"
          placeholder="Search pages, contacts, messages, IDs…"
          maxLength={200}
          value={text}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => {
            setText(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKey}
        />
        <Kbd keys="Esc" />
      </div>
      <div className={styles.list} id={id} role="listbox" aria-label="Results" ref={list}>
        {shown.map((entry, index) => (
          <div key={entry.id}>
            {entry.section !== shown[index - 1]?.section && (
              <div className={styles.section} role="presentation">
                {entry.section}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys */}
            <div
              role="option"
              tabIndex={-1}
              id={`${id}${entry.id}`}
              aria-selected={entry === current}
              className={styles.entry}
              onMouseMove={() => setAt(index)}
              onClick={() => choose(entry)}
            >
              <Icon name={entry.icon} />
              <span className={styles.title}>
                <bdi>{entry.title}</bdi>
              </span>
              {entry.detail && <bdi className={styles.detail}>{entry.detail}</bdi>}
              {entry.keys && <Kbd keys={entry.keys} />}
            </div>
          </div>
        ))}
        {shown.length === 0 && (
          <div className={styles.none} role="status">
            {isSearching ? 'Searching…' : `No results for “${text}”.`}
          </div>
        )}
      </div>
      {note && !isSearching && (
        <div className={styles.note} role="status">
          {note}
        </div>
      )}
    </>
  )
}
