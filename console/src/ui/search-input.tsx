import { useEffect, useRef, useState } from 'react'
import { useLetterKey } from '../lib/keyboard.ts'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import styles from './search-input.module.css'

interface SearchInputProps {
  label: string
  placeholder?: string
  value: string
  onChange: (value: string) => void
  /** The `/` key focuses it; at most one per page. */
  slash?: boolean
}

/** A search field. Calls onChange when the typing pauses, and immediately on Enter or when cleared. */
export function SearchInput({ label, placeholder = 'Search…', value, onChange, slash = true }: SearchInputProps) {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value)
  const reported = useRef(value)
  useEffect(() => {
    if (value !== reported.current) setText(value)
    reported.current = value
  }, [value])
  useEffect(() => {
    if (text === reported.current) return
    const timer = setTimeout(() => report(text), 250)
    return () => clearTimeout(timer)
  })
  useLetterKey(
    '/',
    (event) => {
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    },
    slash,
  )
  const report = (next: string) => {
    if (next.trim() === reported.current) return
    reported.current = next.trim()
    onChange(next.trim())
  }
  return (
    <div className={styles.search}>
      <Icon name="search" size={14} className={styles.glass} />
      <input
        ref={field}
        type="search"
        data-slash={slash || undefined}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        className={styles.field}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter') report(text)
          if (event.key === 'Escape') {
            if (text) event.stopPropagation()
            setText('')
            report('')
            if (!text) field.current?.blur()
          }
        }}
      />
      {text ? (
        <IconButton
          icon="cross"
          label="Clear"
          className={styles.clear}
          onClick={() => {
            setText('')
            report('')
            field.current?.focus()
          }}
        />
      ) : (
        slash && (
          <span className={styles.hint}>
            <Kbd keys="/" />
          </span>
        )
      )}
    </div>
  )
}
