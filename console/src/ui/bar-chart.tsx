import { useState } from 'react'
import { formatNumber, formatShort } from '../lib/format.ts'
import { axisTop, labelEvery } from './axis.ts'
import { ChartFrame, ChartTip, type Series } from './chart-frame.tsx'
import styles from './charts.module.css'

export interface Bar {
  key: string
  /** Under the axis: "2:00 PM", "Nov 15". */
  label: string
  /** In the tooltip: "Nov 15, 2:00 PM – Nov 15, 3:00 PM". */
  title?: string
  values: Readonly<Record<string, number>>
}

interface BarChartProps {
  label: string
  bars: readonly Bar[]
  /** From bottom to top. */
  series: readonly Series[]
  height?: number
  /** Makes bars clickable. Receives the bar and the series that was clicked. */
  onOpen?: (bar: Bar, seriesKey: string | null) => void
}

const left = 48
const axisHeight = 22

/** A stacked bar chart. The arrow keys move between bars, Enter opens one. */
export function BarChart({ label, bars, series, height = 200, onOpen }: BarChartProps) {
  const [at, setAt] = useState<number | null>(null)
  const sum = (bar: Bar) => series.reduce((total, { key }) => total + (bar.values[key] ?? 0), 0)
  const top = axisTop(Math.max(0, ...bars.map(sum)))
  const table = {
    head: ['Time', ...series.map(({ title }) => title)],
    rows: bars.map((bar) => [bar.title ?? bar.label, ...series.map(({ key }) => formatNumber(bar.values[key] ?? 0))]),
  }
  return (
    <ChartFrame label={label} series={series} table={table} height={height}>
      {(width) => {
        const plotHeight = height - axisHeight - 6
        const step = (width - left) / Math.max(1, bars.length)
        const thick = Math.max(1, Math.min(36, step * 0.68))
        const every = labelEvery(bars.length, width - left)
        const open = at === null ? undefined : bars[at]
        return (
          <div className={styles.plot}>
            <svg
              width={width}
              height={height}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move between bars
              tabIndex={0}
              role="application"
              aria-label={`${label}. ${open ? describe(open, series) : 'Use the arrow keys to move between bars.'}`}
              onFocus={() => setAt((before) => before ?? bars.length - 1)}
              onBlur={() => setAt(null)}
              onMouseLeave={() => setAt(null)}
              onKeyDown={(event) => {
                const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
                if (by) {
                  event.preventDefault()
                  setAt((before) => Math.max(0, Math.min(bars.length - 1, (before ?? 0) + by)))
                } else if (event.key === 'Enter' && open) onOpen?.(open, null)
              }}
            >
              <Axis top={top} plotHeight={plotHeight} width={width} />
              {bars.map((bar, index) => {
                const middle = left + step * (index + 0.5)
                let stacked = 0
                return (
                  // biome-ignore lint/a11y/noStaticElementInteractions: the svg element handles the keys
                  <g key={bar.key} onMouseEnter={() => setAt(index)} className={onOpen && styles.opens}>
                    <rect
                      className={at === index ? styles.band : styles.hit}
                      x={middle - step / 2}
                      y={0}
                      width={step}
                      height={plotHeight + 6}
                    />
                    {series.map(({ key, tone }, place) => {
                      const value = bar.values[key] ?? 0
                      if (value === 0) return null
                      const tall = Math.max(1.5, (value / top) * plotHeight)
                      const y = plotHeight + 6 - (stacked / top) * plotHeight - tall
                      stacked += value
                      const isTop = series.slice(place + 1).every((above) => !bar.values[above.key])
                      return (
                        // biome-ignore lint/a11y/noStaticElementInteractions: the svg element handles Enter
                        <path
                          key={key}
                          className={styles[tone]}
                          d={barShape(middle - thick / 2, y, thick, tall, isTop ? Math.min(3, thick / 2, tall) : 0)}
                          onClick={() => onOpen?.(bar, key)}
                        />
                      )
                    })}
                    {index % every === 0 && (
                      <text className={styles.mark} x={middle} y={height - 4} textAnchor="middle">
                        {bar.label}
                      </text>
                    )}
                  </g>
                )
              })}
            </svg>
            {open && (
              <ChartTip
                x={left + step * ((at ?? 0) + 0.5)}
                width={width}
                title={open.title ?? open.label}
                lines={series
                  .toReversed()
                  .map(({ key, title, tone }) => ({ tone, title, value: formatNumber(open.values[key] ?? 0) }))}
              />
            )}
          </div>
        )
      }}
    </ChartFrame>
  )
}

export function Axis({
  top,
  plotHeight,
  width,
  format = formatShort,
}: {
  top: number
  plotHeight: number
  width: number
  format?: (value: number) => string
}) {
  return [0, 0.5, 1].map((share) => (
    <g key={share}>
      <line
        className={styles.rule}
        x1={left}
        x2={width}
        y1={plotHeight + 6 - share * plotHeight + 0.5}
        y2={plotHeight + 6 - share * plotHeight + 0.5}
      />
      <text className={styles.mark} x={left - 8} y={Math.max(9, plotHeight + 9 - share * plotHeight)} textAnchor="end">
        {format(top * share)}
      </text>
    </g>
  ))
}

function describe(bar: Bar, series: readonly Series[]): string {
  return `${bar.title ?? bar.label}: ${series.map(({ key, title }) => `${title} ${formatNumber(bar.values[key] ?? 0)}`).join(', ')}`
}

/** A bar with rounded top corners. */
export function barShape(x: number, y: number, width: number, height: number, round: number): string {
  return `M${x} ${y + height}V${y + round}q0 ${-round} ${round} ${-round}h${width - 2 * round}q${round} 0 ${round} ${round}V${y + height}z`
}
