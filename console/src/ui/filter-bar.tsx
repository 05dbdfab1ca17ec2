import { Popover } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { formatShortTime, plainWord } from '../lib/format.ts'
import { formatPhone } from '../lib/phone.ts'
import { useSearchParams } from '../lib/url.ts'
import { Button } from './button.tsx'
import styles from './filter-bar.module.css'
import { DatesFilter, datesOf, type Filter, parseTime, TextFilter } from './filter-forms.tsx'
import { Icon } from './icon.tsx'
import { SearchInput } from './search-input.tsx'

export type { Filter } from './filter-forms.tsx'

interface FilterBarProps {
  filters: readonly Filter[]
  /** A search field before the chips, with its value in the parameter `name`. */
  search?: { name: string; label: string; placeholder?: string }
  /** The parameter of the page that is shown. A changed filter removes it. */
  page?: string
  /** On the right: a live switch, an export. */
  children?: ReactNode
}

/** Filters as chips, with their values in the URL. Read them with `useFilters('status', 'from', 'to')`. */
export function FilterBar({ filters, search, page, children }: FilterBarProps) {
  const [params, changeParams] = useSearchParams()
  const change: ChipProps['change'] = (changes) => changeParams(page ? { ...changes, [page]: null } : changes)
  const names = filters.flatMap(namesOf)
  const active = names.filter((name) => params[name])
  return (
    <search className={styles.bar} aria-label="Filters">
      {search && (
        <SearchInput
          label={search.label}
          {...(search.placeholder ? { placeholder: search.placeholder } : {})}
          value={params[search.name] ?? ''}
          onChange={(text) => change({ [search.name]: text })}
        />
      )}
      {filters
        .filter((filter) => isShown(filter, params))
        .map((filter) => (
          <FilterChip key={filter.title} filter={filter} params={params} change={change} />
        ))}
      {active.length > 1 && (
        <Button kind="quiet" size="s" onClick={() => change(Object.fromEntries(names.map((name) => [name, null])))}>
          Clear all
        </Button>
      )}
      {children && <div className={styles.end}>{children}</div>}
    </search>
  )
}

interface ChipProps {
  filter: Filter
  params: Readonly<Record<string, string>>
  change: (changes: Record<string, string | null>) => void
}

function FilterChip({ filter, params, change }: ChipProps) {
  const [open, setOpen] = useState(false)
  const label = labelFor(filter, params)
  const clear = () => change(Object.fromEntries(namesOf(filter).map((name) => [name, null])))
  const apply = (changes: Record<string, string | null>) => {
    change(changes)
    setOpen(false)
  }
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-start" trapFocus returnFocus withRoles>
      <div className={`${styles.chip} ${label ? styles.active : ''}`}>
        <Popover.Target>
          <button type="button" className={styles.open} onClick={() => setOpen(!open)}>
            {!label && <Icon name="plus" size={12} />}
            {filter.title}
            {label && <span className={styles.words}>{label}</span>}
          </button>
        </Popover.Target>
        {label && (
          <button type="button" className={styles.clear} aria-label={`Clear ${filter.title}`} onClick={clear}>
            <Icon name="cross" size={11} />
          </button>
        )}
      </div>
      <Popover.Dropdown className={styles.dropdown ?? ''}>
        {filter.kind === 'select' && (
          <Options
            filter={filter}
            chosen={valuesIn(params[filter.name])}
            onChoose={(values) => {
              change({ [filter.name]: values.join() })
              if (filter.single) setOpen(false)
            }}
          />
        )}
        {filter.kind === 'text' && <TextFilter filter={filter} value={params[filter.name] ?? ''} apply={apply} />}
        {filter.kind === 'dates' && <DatesFilter filter={filter} params={params} apply={apply} />}
      </Popover.Dropdown>
    </Popover>
  )
}

/** A filter of a link has no chip until it is set. A set filter always has a chip, so that it can be removed. */
const isShown = (filter: Filter, params: ChipProps['params']) =>
  filter.kind === 'dates' || !filter.onlyIfSet || Boolean(params[filter.name])

const valuesIn = (param: string | undefined): readonly string[] => (param ? param.split(',') : [])

interface OptionsProps {
  filter: Filter & { kind: 'select' }
  chosen: readonly string[]
  onChoose: (values: readonly string[]) => void
}

/** Chooses one value, or several. Values of the URL that are not an option stay until the filter is cleared. */
function Options({ filter, chosen, onChoose }: OptionsProps) {
  const toggled = (value: string) => {
    if (filter.single) return [value]
    return chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]
  }
  return (
    <div
      role="listbox"
      aria-label={filter.title}
      aria-multiselectable={filter.single !== true}
      className={styles.options}
    >
      {filter.options.map(({ value, title }) => (
        <button
          key={value}
          type="button"
          role="option"
          aria-selected={chosen.includes(value)}
          className={styles.option}
          onClick={() => onChoose(toggled(value))}
        >
          {title}
          {chosen.includes(value) && <Icon name="check" size={13} />}
        </button>
      ))}
      {filter.options.length === 0 && <span className={`${styles.option} quiet`}>None yet</span>}
    </div>
  )
}

function namesOf(filter: Filter): readonly string[] {
  return filter.kind === 'dates' ? datesOf(filter) : [filter.name]
}

function labelFor(filter: Filter, params: ChipProps['params']): string | null {
  if (filter.kind === 'dates') {
    const [after, before] = datesOf(filter).map((name) => parseTime(params[name]))
    if (after && before) return `${formatShortTime(after)} – ${formatShortTime(before)}`
    return after ? `since ${formatShortTime(after)}` : before ? `until ${formatShortTime(before)}` : null
  }
  const value = params[filter.name]
  if (!value) return null
  if (filter.kind === 'select') {
    const titles = valuesIn(value).map((each) => filter.options.find((option) => option.value === each)?.title ?? each)
    return titles.length > 2 ? `${titles[0]} and ${titles.length - 1} more` : titles.join(', ')
  }
  return filter.name === 'phone' ? formatPhone(value) : value
}

/** Options for values of the API. */
export const optionsOf = (values: readonly string[]) => values.map((value) => ({ value, title: plainWord(value) }))
