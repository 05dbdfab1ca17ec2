import { useState } from 'react'
import { formatBytes, formatDuration, formatMs, formatNumber, formatPercent, formatShort } from '../lib/format.ts'
import { axisTop, labelEvery } from './axis.ts'
import { Axis } from './bar-chart.tsx'
import { ChartFrame, ChartTip, type Series } from './chart-frame.tsx'
import styles from './charts.module.css'

interface Point {
  key: string
  label: string
  title?: string
  /** Milliseconds or ratios, or null where there is no measurement: the line has a gap. */
  values: Readonly<Record<string, number | null>>
}

type LineUnit = 'ms' | 'ratio' | 'count' | 'bytes'

interface LineChartProps {
  label: string
  points: readonly Point[]
  series: readonly Series[]
  /** What the values are. A ratio is between 0 and 1. */
  unit?: LineUnit
  height?: number
}

interface Unit {
  top(most: number): number
  /** At the axis, in the tooltip and in the table. */
  mark(value: number): string
  value(value: number): string
  cell(value: number): string
}

/** A round number of the largest unit. */
function bytesTop(most: number): number {
  const unit = 1024 ** Math.floor(Math.log2(Math.max(1, most)) / 10)
  return axisTop(most / unit) * unit
}

const units: Record<LineUnit, Unit> = {
  ms: {
    top: axisTop,
    mark: (value) => (value === 0 ? '0' : formatDuration(value).replace('.00', '')),
    value: formatDuration,
    cell: formatMs,
  },
  count: { top: axisTop, mark: formatShort, value: formatNumber, cell: formatNumber },
  bytes: { top: bytesTop, mark: formatBytes, value: formatBytes, cell: formatBytes },
  ratio: { top: () => 1, mark: formatPercent, value: formatPercent, cell: formatPercent },
}

const left = 48
const axisHeight = 22

/** A line chart over time, for example of p50 and p95. */
export function LineChart({ label, points, series, unit = 'ms', height = 200 }: LineChartProps) {
  const [at, setAt] = useState<number | null>(null)
  const value = (point: Point, key: string) => point.values[key] ?? null
  const of = units[unit]
  const top = of.top(Math.max(0, ...points.flatMap((point) => series.map(({ key }) => value(point, key) ?? 0))))
  const formatted = (found: number | null) => (found === null ? '–' : of.value(found))
  const inCell = (found: number | null) => (found === null ? '–' : of.cell(found))
  const table = {
    head: ['Time', ...series.map(({ title }) => title)],
    rows: points.map((point) => [point.title ?? point.label, ...series.map(({ key }) => inCell(value(point, key)))]),
  }
  return (
    <ChartFrame label={label} series={series} table={table} height={height}>
      {(width) => {
        const plotHeight = height - axisHeight - 6
        const step = (width - left) / Math.max(1, points.length)
        const x = (index: number) => left + step * (index + 0.5)
        const y = (found: number) => plotHeight + 6 - (found / top) * plotHeight
        const every = labelEvery(points.length, width - left)
        const open = at === null ? undefined : points[at]
        return (
          <div className={styles.plot}>
            <svg
              width={width}
              height={height}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move along the line
              tabIndex={0}
              role="application"
              aria-label={`${label}. ${open ? `${open.title ?? open.label}: ${series.map(({ key, title }) => `${title} ${formatted(value(open, key))}`).join(', ')}` : 'Use the arrow keys to move along the line.'}`}
              onFocus={() => setAt((before) => before ?? points.length - 1)}
              onBlur={() => setAt(null)}
              onMouseLeave={() => setAt(null)}
              onMouseMove={(event) => {
                const place = event.clientX - event.currentTarget.getBoundingClientRect().left - left
                setAt(Math.max(0, Math.min(points.length - 1, Math.floor(place / step))))
              }}
              onKeyDown={(event) => {
                const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
                if (!by) return
                event.preventDefault()
                setAt((before) => Math.max(0, Math.min(points.length - 1, (before ?? 0) + by)))
              }}
            >
              <Axis top={top} plotHeight={plotHeight} width={width} format={of.mark} />
              {at !== null && <line className={styles.rule} x1={x(at)} x2={x(at)} y1={0} y2={plotHeight + 6} />}
              {series.map(({ key, tone }) => (
                <g key={key} className={styles[`${tone}Line`]}>
                  <path
                    className={styles.line}
                    d={lineThrough(
                      points.map((point) => value(point, key)),
                      x,
                      y,
                    )}
                  />
                  {points.map((point, index) => {
                    const found = value(point, key)
                    const alone = found !== null && value(points[index - 1] ?? point, key) === null
                    return found !== null && (at === index || alone) ? (
                      <circle key={point.key} className={styles.dot} cx={x(index)} cy={y(found)} r={3} />
                    ) : null
                  })}
                </g>
              ))}
              {points.map(
                (point, index) =>
                  index % every === 0 && (
                    <text key={point.key} className={styles.mark} x={x(index)} y={height - 4} textAnchor="middle">
                      {point.label}
                    </text>
                  ),
              )}
            </svg>
            {open && (
              <ChartTip
                x={x(at ?? 0)}
                width={width}
                title={open.title ?? open.label}
                lines={series.map(({ key, title, tone }) => ({ tone, title, value: formatted(value(open, key)) }))}
              />
            )}
          </div>
        )
      }}
    </ChartFrame>
  )
}

function lineThrough(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  return values
    .map((value, index) => {
      if (value === null) return ''
      const starts = index === 0 || values[index - 1] === null
      return `${starts ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
    })
    .join('')
}
