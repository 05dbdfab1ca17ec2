import { formatNumber, formatShort } from '../lib/format.ts'
import { ChartFrame, type Series } from './chart-frame.tsx'
import charts from './charts.module.css'
import styles from './result-bars.module.css'
import { height, Plot, type ResultBar, spanOf, sum } from './result-bars-plot.tsx'
import { Skeleton } from './states.tsx'

export type { ResultBar } from './result-bars-plot.tsx'

interface ResultBarsProps {
  label: string
  /** Undefined while they are loading. */
  bars: readonly ResultBar[] | undefined
  /** From bottom to top. The legend entry of a fixed one cannot be clicked. */
  series: readonly (Series & { isFixed?: boolean })[]
  /** A person chose a bar, or dragged over several: ISO times. */
  onRange: (from: string, to: string) => void
  /** The keys of the series that the list is filtered by. */
  chosen?: readonly string[]
  /** A person clicked an entry of the legend. */
  onResult?: (key: string) => void
  /** Next to the legend: what the bars cover. A part that has no space is not shown. */
  caption?: readonly string[]
  /** In place of bars if all values are 0. */
  empty: string
}

/** Bars above a list: its rows by result over time. Choosing bars filters the list by time, the legend by result. */
export function ResultBars({
  label,
  bars,
  series,
  onRange,
  chosen = [],
  onResult,
  caption = [],
  empty,
}: ResultBarsProps) {
  const sums = new Map(series.map(({ key }) => [key, sum(bars?.map(({ values }) => values[key] ?? 0) ?? [])]))
  const table = {
    head: ['Time', ...series.map(({ title }) => title)],
    rows: (bars ?? []).map((bar) => [spanOf(bar, bar), ...series.map(({ key }) => formatNumber(bar.values[key] ?? 0))]),
  }
  const legend = (
    <>
      <span className={styles.legend}>
        {series.map((each) => (
          <LegendEntry
            key={each.key}
            series={each}
            count={sums.get(each.key) ?? 0}
            isChosen={chosen.includes(each.key)}
            {...(onResult && !each.isFixed && { onClick: () => onResult(each.key) })}
          />
        ))}
      </span>
      <span className={styles.caption}>
        {caption.map((part, index) => (
          <span key={part}>{index === 0 ? part : ` · ${part}`}</span>
        ))}
      </span>
    </>
  )
  return (
    <div className={styles.bars}>
      <ChartFrame label={label} series={series} table={table} height={height} legend={legend}>
        {(width) => {
          if (!bars) return <Skeleton height={height} />
          if (sum([...sums.values()]) === 0)
            return (
              <p className={styles.empty} style={{ height }}>
                {empty}
              </p>
            )
          return <Plot label={label} bars={bars} series={series} width={width} onRange={onRange} />
        }}
      </ChartFrame>
    </div>
  )
}

interface LegendEntryProps {
  series: Series
  count: number
  isChosen: boolean
  onClick?: () => void
}

function LegendEntry({ series: { title, tone }, count, isChosen, onClick }: LegendEntryProps) {
  const content = (
    <>
      <span className={`${charts.swatch} ${charts[tone]}`} />
      {title}
      {count > 0 && <span className={styles.count}>{formatShort(count)}</span>}
    </>
  )
  if (!onClick) return <span className={charts.entry}>{content}</span>
  return (
    <button type="button" className={`${charts.entry} ${styles.entry}`} aria-pressed={isChosen} onClick={onClick}>
      {content}
    </button>
  )
}
