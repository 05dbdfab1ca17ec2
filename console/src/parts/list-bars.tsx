import type { ListBars as Counts } from '@parley/contract/console/list-bars'
import type { Topic } from '@parley/contract/console/topics'
import { formatClock, formatShortDay, formatShortTime, localDay } from '../lib/format.ts'
import { useData } from '../lib/query.ts'
import { useHere } from '../lib/session.ts'
import { timeZone } from '../lib/time-zone.ts'
import { type Search, useSearchParams } from '../lib/url.ts'
import type { Series } from '../ui/chart-frame.tsx'
import { type ResultBar, ResultBars } from '../ui/result-bars.tsx'

interface ListBarsProps {
  label: string
  /** Of the list, relative to the workspace. `<path>/bars` has the counts. */
  path: string
  /** The filters of the list, as its API takes them. */
  query: Readonly<Record<string, string>>
  topics: readonly Topic[]
  /** What the rows are: "requests". */
  noun: string
  series: readonly Series[] | ((counts: Counts['counts']) => readonly Series[])
  /** The parameters in the URL that show only the rows of a result. */
  results?: Readonly<Record<string, Search>>
  /** The parameters of the time filter. */
  names?: readonly [from: string, to: string]
  /** What the bars cover without a time filter. */
  span?: string
}

/** Bars above a list: its rows by result over time. They set the time filter and the filter by result in the URL. */
export function ListBars({
  label,
  path,
  query,
  topics,
  noun,
  series,
  results = {},
  names,
  span = '7 days',
}: ListBarsProps) {
  const [from, to] = names ?? ['from', 'to']
  const [params, change] = useSearchParams()
  const { data, error } = useData<Counts>(useHere().api(`${path}/bars`), {
    query: { ...query, zone: timeZone() },
    topics,
    placeholderData: (before) => before,
  })
  const filterNames = [...new Set(Object.values(results).flatMap(Object.keys))]
  const isChosen = (key: string) => filterNames.every((name) => (params[name] ?? '') === (results[key]?.[name] ?? ''))
  const choose = (key: string) => {
    const next = isChosen(key) ? {} : results[key]
    change(Object.fromEntries(filterNames.map((name) => [name, next?.[name] ?? null])), { push: true })
  }
  const shown = typeof series === 'function' ? series(data?.counts ?? {}) : series
  return (
    <ResultBars
      label={label}
      bars={data ? barsOf(data) : error ? [] : undefined}
      series={shown.map((each) => ({ ...each, isFixed: results[each.key] === undefined }))}
      onRange={(first, last) => change({ [from]: first, [to]: last }, { push: true })}
      {...(filterNames.length > 0 && { chosen: Object.keys(results).filter(isChosen), onResult: choose })}
      caption={data ? captionOf(data, noun, params[from] || params[to] ? null : span) : []}
      empty={error && !data ? 'The counts could not be loaded' : emptyText(data, noun)}
    />
  )
}

function emptyText(data: Counts | undefined, noun: string): string {
  return data?.counted_from ? `Too many ${noun} to count with these filters` : `No ${noun} in this time`
}

function captionOf({ times, counted_from }: Counts, noun: string, span: string | null): string[] {
  const [first, last] = [times[0], times.at(-1)]
  if (!first || !last) return []
  if (counted_from) return [`Only ${noun} since ${formatShortTime(counted_from)} are counted`]
  return span === null
    ? [`${formatShortTime(first)} – ${formatShortTime(last)}`]
    : [`Last ${span}`, 'drag to choose a time']
}

const hourMs = 3_600_000

/** The counts as bars, with labels for the axis. */
export function barsOf({ times, counts }: Counts): ResultBar[] {
  const [first, second, last] = [times[0], times[1], times.at(-1)].map((time) => Date.parse(time ?? ''))
  const stepMs = Number(second) - Number(first)
  const hasDays = Number(last) - Number(first) > 36 * hourMs
  const starts = times.slice(0, -1)
  const labels = starts.map((from) => (hasDays ? dayLabel(from) : clockLabel(from, stepMs)))
  // A few minutes may have no round time.
  if (labels.join('') === '') labels[0] = formatClock(new Date(Number(first)))
  return starts.map((from, index) => ({
    from,
    to: times[index + 1] ?? from,
    label: labels[index] ?? '',
    values: Object.fromEntries(Object.entries(counts).map(([key, values]) => [key, values[index] ?? 0])),
  }))
}

/** The first bar of a day has its label. */
function dayLabel(from: string): string {
  const before = new Date(Date.parse(from) - 1)
  return localDay(new Date(from)) === localDay(before) ? '' : formatShortDay(from)
}

/** Round times only. */
function clockLabel(from: string, stepMs: number): string {
  const every = stepMs < hourMs / 12 ? hourMs / 6 : stepMs < hourMs / 4 ? hourMs / 2 : hourMs
  return Date.parse(from) % every === 0 ? formatClock(from) : ''
}
