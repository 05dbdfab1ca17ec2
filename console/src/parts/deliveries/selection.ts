import { useState } from 'react'

export interface Selection {
  keys: ReadonlySet<string>
  /** Every row that matches the filters is selected, including rows that are not loaded. */
  isAll: boolean
  choose: (keys: ReadonlySet<string>) => void
  chooseAll: () => void
  clear: () => void
}

const none: ReadonlySet<string> = new Set()

/** The selected rows: of the loaded rows, or of all that match. Other filters clear it. */
export function useSelection(query: Readonly<Record<string, string>>, loaded: readonly string[]): Selection {
  const of = JSON.stringify(query)
  const [chosen, setChosen] = useState<{ of: string; keys: ReadonlySet<string> | 'all' }>({ of, keys: none })
  const keys = chosen.of === of ? chosen.keys : none
  const choose = (next: ReadonlySet<string> | 'all') => setChosen({ of, keys: next })
  return {
    keys: keys === 'all' ? new Set(loaded) : keys,
    isAll: keys === 'all',
    choose,
    chooseAll: () => choose('all'),
    clear: () => choose(none),
  }
}
