import { type KeyboardEvent, useRef } from 'react'
import { formatShort } from '../lib/format.ts'
import styles from './tabs.module.css'

interface Tab<Name extends string> {
  name: Name
  title: string
  /** A number, or a text such as "10,000+"; an empty one keeps the space until it is known. */
  count?: number | string | undefined
}

interface TabsProps<Name extends string> {
  label: string
  tabs: readonly Tab<Name>[]
  value: Name
  onChange: (name: Name) => void
}

/**
 * Tabs. Keep the open one in the URL: `const [tab, setTab] = useChoice('tab', ['deliveries', 'settings'])`. Put them into
 * PageHeader, and wrap the content of each in TabPanel.
 */
export function Tabs<Name extends string>({ label, tabs, value, onChange }: TabsProps<Name>) {
  const list = useRef<HTMLDivElement>(null)
  const onKey = (event: KeyboardEvent) => {
    const now = tabs.findIndex((tab) => tab.name === value)
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    const index = (next + tabs.length) % tabs.length
    const tab = tabs[index]
    if (tab) onChange(tab.name)
    list.current?.querySelectorAll('button')[index]?.focus()
  }
  return (
    <div className={styles.tabs} role="tablist" aria-label={label} ref={list} onKeyDown={onKey}>
      {tabs.map(({ name, title, count }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === value}
          aria-controls={`panel-${name}`}
          tabIndex={name === value ? 0 : -1}
          className={styles.tab}
          onClick={() => onChange(name)}
        >
          {title}
          {count !== undefined && (
            <span className={styles.count}>{typeof count === 'number' ? formatShort(count) : count}</span>
          )}
        </button>
      ))}
    </div>
  )
}

export function TabPanel({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div role="tabpanel" id={`panel-${name}`} aria-labelledby={`tab-${name}`} className={styles.panel}>
      {children}
    </div>
  )
}
