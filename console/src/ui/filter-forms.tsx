import { useState } from 'react'
import { ranges } from '../lib/date-ranges.ts'
import { plainPhone } from '../lib/phone.ts'
import { fromTimeField, toTimeField } from '../lib/time-zone.ts'
import type { Search } from '../lib/url.ts'
import { Button } from './button.tsx'
import { Select, TextInput, TimeInput } from './fields.tsx'
import styles from './filter-bar.module.css'

export type Filter =
  | {
      kind: 'select'
      name: string
      title: string
      options: readonly { value: string; title: string }[]
      /** Only one value can be chosen. Otherwise several, which the parameter separates by commas. */
      single?: boolean
      /** The chip is shown only if the URL has a value, for filters that only links set. */
      onlyIfSet?: boolean
    }
  | { kind: 'text'; name: string; title: string; placeholder?: string; onlyIfSet?: boolean }
  /** Two parameters with ISO times, named `from` and `to` unless `names` is set. */
  | { kind: 'dates'; title: string; names?: readonly [from: string, to: string] }

type Change = (changes: Record<string, string | null>) => void

export function TextFilter({
  filter,
  value,
  apply,
}: {
  filter: Filter & { kind: 'text' }
  value: string
  apply: Change
}) {
  const [text, setText] = useState(value)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        apply({ [filter.name]: filter.name === 'phone' ? plainPhone(text) : text.trim() })
      }}
    >
      <TextInput
        label={filter.title}
        placeholder={filter.placeholder ?? ''}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <Button type="submit" kind="primary" size="s">
        Apply
      </Button>
    </form>
  )
}

export function DatesFilter({
  filter,
  params,
  apply,
}: {
  filter: Filter & { kind: 'dates' }
  params: Search
  apply: Change
}) {
  const [from, to] = datesOf(filter)
  const [after, setAfter] = useState(toField(params[from]))
  const [before, setBefore] = useState(toField(params[to]))
  const [error, setError] = useState<string | null>(null)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (after && before && after >= before) setError('Enter a time after the start.')
        else apply({ [from]: fromField(after), [to]: fromField(before) })
      }}
    >
      <Select
        label="Range"
        placeholder="Choose…"
        data={ranges.map(({ title }) => title)}
        comboboxProps={{ withinPortal: false }}
        onChange={(chosen) => {
          const range = ranges.find(({ title }) => title === chosen)?.of(new Date())
          if (range) apply({ [from]: range.from.toISOString(), [to]: range.to?.toISOString() ?? null })
        }}
      />
      <TimeInput label="From" value={after} onChange={(event) => setAfter(event.currentTarget.value)} />
      <TimeInput
        label="To"
        value={before}
        error={error}
        onChange={(event) => {
          setBefore(event.currentTarget.value)
          setError(null)
        }}
      />
      <Button type="submit" kind="primary" size="s">
        Apply
      </Button>
    </form>
  )
}

export function datesOf({ names = ['from', 'to'] }: Filter & { kind: 'dates' }): readonly [string, string] {
  return names
}

/** A datetime-local field has a time without a zone; the URL has UTC. */
function toField(iso: string | undefined): string {
  const at = parseTime(iso)
  return at ? toTimeField(at) : ''
}

/** Null if the parameter is missing or not a date. */
export function parseTime(iso: string | undefined): Date | null {
  const at = new Date(iso ?? '')
  return Number.isNaN(at.getTime()) ? null : at
}

const fromField = (local: string): string | null => fromTimeField(local)?.toISOString() ?? null
