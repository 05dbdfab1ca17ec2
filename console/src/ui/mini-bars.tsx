import type { Bar } from './bar-chart.tsx'
import type { Series } from './chart-frame.tsx'
import styles from './charts.module.css'
import { Tip } from './tip.tsx'

interface MiniBarsProps {
  /** For screen readers: "Last 7 days: 1,204 OK, 3 4xx". */
  label: string
  bars: readonly Bar[]
  /** From bottom to top. */
  series: readonly Series[]
  width?: number
  height?: number
}

/** Small stacked bars without axes, for a table cell. The tooltip has the numbers of `label`. */
export function MiniBars({ label, bars, series, width = 88, height = 26 }: MiniBarsProps) {
  const sum = (bar: Bar) => series.reduce((total, { key }) => total + (bar.values[key] ?? 0), 0)
  const top = Math.max(1, ...bars.map(sum))
  const step = width / Math.max(1, bars.length)
  return (
    <Tip text={label}>
      <svg className={styles.mini} width={width} height={height} role="img" aria-label={label}>
        {bars.map((bar, index) => {
          let y = height
          return (
            <g key={bar.key}>
              <rect className={styles.base} x={index * step} y={height - 1} width={step - 2} height={1} />
              {series.map(({ key, tone }) => {
                const value = bar.values[key] ?? 0
                if (value === 0) return null
                // A few errors among many requests stay visible.
                const tall = Math.max(2, (value / top) * (height - 2 * series.length))
                y -= tall
                return <rect key={key} className={styles[tone]} x={index * step} y={y} width={step - 2} height={tall} />
              })}
            </g>
          )
        })}
      </svg>
    </Tip>
  )
}
