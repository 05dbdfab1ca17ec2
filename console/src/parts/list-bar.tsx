import type { ListTotal } from '@parley/contract/console/list'
import type { Topic } from '@parley/contract/console/topics'
import type { ReactNode } from 'react'
import { formatNumber, plural } from '../lib/format.ts'
import { useTotal } from '../lib/query.ts'
import { useHere } from '../lib/session.ts'
import { type Filter, FilterBar } from '../ui/filter-bar.tsx'
import { Tip } from '../ui/tip.tsx'
import { ExportButton } from './export-button.tsx'
import styles from './list-bar.module.css'

interface ListBarProps {
  filters: readonly Filter[]
  search?: { name: string; label: string; placeholder?: string }
  /** The filters of the list, as its API takes them. The total and the export get the same. */
  query: Readonly<Record<string, string>>
  /** The name of a row, with its plural if that is irregular: `['message']`, `['delivery', 'deliveries']`. */
  noun: readonly [one: string, many?: string]
  /**
   * The number of matching rows. A list without pages passes it as `rows`. Otherwise it is fetched: `path` is the path of the
   * list, relative to the workspace, and a change of one of `topics` fetches it again. The shown total is at least `shown`, the
   * number of visible rows: new rows may arrive before the total.
   */
  total: { rows: number | undefined } | { path: string; topics: readonly Topic[]; shown: number }
  /** The export; null if the list has none. */
  file: `${string}.csv` | null
  /** The name of the saved file, if it differs from the route's. */
  saveAs?: `${string}.csv`
  /** Before the total: a live switch. */
  children?: ReactNode
}

/** The filters of a list, kept in the URL, with the number of matching rows and an export of them. */
export function ListBar({ filters, search, query, noun, total, file, saveAs, children }: ListBarProps) {
  return (
    <FilterBar filters={filters} {...(search ? { search } : {})}>
      {children}
      {'path' in total ? (
        <FetchedTotal {...total} query={query} noun={noun} />
      ) : (
        <Total
          total={total.rows === undefined ? undefined : { total: total.rows, total_is_exact: true }}
          shown={0}
          noun={noun}
        />
      )}
      {file && <ExportButton file={file} query={query} {...(saveAs ? { saveAs } : {})} />}
    </FilterBar>
  )
}

interface FetchedTotalProps extends Pick<ListBarProps, 'query' | 'noun'> {
  path: string
  topics: readonly Topic[]
  shown: number
}

function FetchedTotal({ path, topics, shown, query, noun }: FetchedTotalProps) {
  const { data, error } = useTotal(useHere().api(path), query, topics)
  if (error && !data) return <span className={styles.total}>Total not available</span>
  return <Total total={data} shown={shown} noun={noun} />
}

function Total({ total, shown, noun }: { total: ListTotal | undefined; shown: number; noun: ListBarProps['noun'] }) {
  if (!total) return <span className={styles.total} aria-busy="true" />
  if (total.total === null) {
    return (
      <Tip text="Few of many rows match. Choose a shorter time range to see how many.">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the tooltip has to open by keyboard too */}
        <span className={styles.total} tabIndex={0}>
          The total took too long
        </span>
      </Tip>
    )
  }
  const [one, many = `${one}s`] = noun
  return (
    <output className={styles.total}>
      {total.total_is_exact ? plural(Math.max(total.total, shown), one, many) : `${formatNumber(total.total)}+ ${many}`}
    </output>
  )
}
