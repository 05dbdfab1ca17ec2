import { type PointerEvent, useState } from 'react'
import { formatNumber, formatShort, formatShortTime } from '../lib/format.ts'
import { barShape } from './bar-chart.tsx'
import { type BarRange, firstOf, lastOf, placeLabels, rangeAfterKey } from './bar-range.ts'
import { ChartTip, type Series } from './chart-frame.tsx'
import charts from './charts.module.css'
import { announce } from './live-region.tsx'
import styles from './result-bars.module.css'

export interface ResultBar {
  /** ISO times. The bar counts from `from` up to `to`, without `to` itself. */
  from: string
  to: string
  /** Under the axis; an empty one is not shown: "2 PM", "Nov 15". */
  label: string
  values: Readonly<Record<string, number>>
}

export const height = 84
const left = 36
const top = 6
const axisHeight = 18
const plotHeight = height - axisHeight - top
const bottom = top + plotHeight
const labelWidth = 60

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

interface PlotProps {
  label: string
  bars: readonly ResultBar[]
  series: readonly Series[]
  width: number
  onRange: (from: string, to: string) => void
}

/** Bars that can be chosen: with a click, a drag, or the keyboard. */
export function Plot({ label, bars, series, width, onRange }: PlotProps) {
  const [range, setRange] = useState<BarRange | null>(null)
  const [isDragging, setDragging] = useState(false)
  const newest = { anchor: bars.length - 1, end: bars.length - 1 }
  const most = Math.max(1, ...bars.map(({ values }) => sum(series.map(({ key }) => values[key] ?? 0))))
  const step = (width - left) / bars.length
  const barUnder = (event: PointerEvent<SVGSVGElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - left
    return Math.max(0, Math.min(bars.length - 1, Math.floor(x / step)))
  }
  const choose = (marked: BarRange) => {
    const [first, last] = [bars[firstOf(marked)], bars[lastOf(marked)]]
    if (first && last) onRange(first.from, last.to)
    setRange(null)
  }
  const marked = range && inside(range, bars.length)
  return (
    <div className={charts.plot}>
      <svg
        className={styles.plot}
        width={width}
        height={height}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move between bars
        tabIndex={0}
        role="application"
        aria-label={`${label}, ${bars.length} bars. Use the arrow keys to move between bars, with Shift to mark several, and Enter to show only their rows.`}
        onFocus={() => setRange((before) => before ?? newest)}
        onBlur={() => setRange(null)}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDragging(true)
          setRange({ anchor: barUnder(event), end: barUnder(event) })
        }}
        onPointerMove={(event) => {
          const end = barUnder(event)
          setRange((before) => (isDragging && before ? { ...before, end } : { anchor: end, end }))
        }}
        onPointerUp={(event) => {
          if (isDragging && range) choose({ ...range, end: barUnder(event) })
          setDragging(false)
        }}
        onPointerCancel={() => {
          setDragging(false)
          setRange(null)
        }}
        onPointerLeave={() => !isDragging && setRange(null)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') return choose(marked ?? newest)
          const next = rangeAfterKey(marked ?? newest, event, bars.length)
          if (!next) return
          event.preventDefault()
          setRange(next)
          announce(describe(bars, series, next))
        }}
      >
        <Marks most={most} width={width} />
        {marked && (
          <rect
            className={firstOf(marked) === lastOf(marked) ? charts.band : styles.marked}
            x={left + firstOf(marked) * step}
            y={0}
            width={step * (lastOf(marked) - firstOf(marked) + 1)}
            height={bottom}
          />
        )}
        {bars.map((bar, index) => (
          <Stacked key={bar.from} bar={bar} series={series} x={left + step * index} step={step} most={most} />
        ))}
        {placeLabels(
          bars.map((bar) => bar.label),
          step,
          labelWidth,
        )
          .filter((index) => left + step * index + labelWidth <= width)
          .map((index) => (
            <text key={bars[index]?.from} className={charts.mark} x={left + step * index} y={height - 4}>
              {bars[index]?.label}
            </text>
          ))}
      </svg>
      {marked && (
        <ChartTip
          x={besideRange(left + firstOf(marked) * step, left + (lastOf(marked) + 1) * step, width)}
          width={width}
          title={titleOf(bars, marked)}
          lines={series.toReversed().map(({ key, title, tone }) => ({
            tone,
            title,
            value: formatNumber(sumIn(bars, marked, key)),
          }))}
        />
      )}
    </div>
  )
}

/** Where the tooltip begins, so that it does not cover the marked bars if there is space next to them. */
function besideRange(from: number, to: number, width: number): number {
  if (to < width / 2) return to
  return from >= width / 2 ? from : (from + to) / 2
}

/** New data may have fewer bars than those that are marked. */
const inside = ({ anchor, end }: BarRange, count: number): BarRange => ({
  anchor: Math.min(anchor, count - 1),
  end: Math.min(end, count - 1),
})

const sumIn = (bars: readonly ResultBar[], range: BarRange, key: string): number =>
  sum(bars.slice(firstOf(range), lastOf(range) + 1).map(({ values }) => values[key] ?? 0))

function titleOf(bars: readonly ResultBar[], range: BarRange): string {
  const [first, last] = [bars[firstOf(range)], bars[lastOf(range)]]
  return first && last ? spanOf(first, last) : ''
}

/** Nov 15, 2:00 PM – Nov 15, 3:00 PM */
export const spanOf = (first: ResultBar, last: ResultBar) =>
  `${formatShortTime(first.from)} – ${formatShortTime(last.to)}`

function describe(bars: readonly ResultBar[], series: readonly Series[], range: BarRange): string {
  return `${titleOf(bars, range)}: ${series.map(({ key, title }) => `${title} ${formatNumber(sumIn(bars, range, key))}`).join(', ')}`
}

function Marks({ most, width }: { most: number; width: number }) {
  return [
    { y: top, value: most },
    { y: bottom, value: 0 },
  ].map(({ y, value }) => (
    <g key={y}>
      <line className={charts.rule} x1={left} x2={width} y1={y + 0.5} y2={y + 0.5} />
      <text className={charts.mark} x={left - 6} y={Math.max(9, y + 3)} textAnchor="end">
        {formatShort(value)}
      </text>
    </g>
  ))
}

interface StackedProps {
  bar: ResultBar
  series: readonly Series[]
  x: number
  step: number
  most: number
}

/** The values of a bar, one above the other. One failure of thousands is still seen: a value has at least two pixels. */
function Stacked({ bar: { values }, series, x, step, most }: StackedProps) {
  const thick = Math.max(1, Math.min(120, step - Math.min(3, step * 0.3)))
  const shown = series.filter(({ key }) => values[key])
  const talls = shown.map(({ key }) => Math.max(2, ((values[key] ?? 0) / most) * plotHeight))
  const fit = Math.min(1, plotHeight / sum(talls))
  return shown.map(({ key, tone }, place) => {
    const tall = (talls[place] ?? 0) * fit
    const y = bottom - sum(talls.slice(0, place + 1)) * fit
    const round = place === shown.length - 1 ? Math.min(2, thick / 2, tall) : 0
    return <path key={key} className={charts[tone]} d={barShape(x + (step - thick) / 2, y, thick, tall, round)} />
  })
}
