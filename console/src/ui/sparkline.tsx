import styles from './charts.module.css'

interface SparklineProps {
  values: readonly number[]
  /** For screen readers: "Requests in the last 7 days: 1,204". */
  label: string
  width?: number
  height?: number
  tone?: 'accent' | 'bad'
}

/** A small line chart without axes, for a table cell. */
export function Sparkline({ values, label, width = 88, height = 24, tone = 'accent' }: SparklineProps) {
  const most = Math.max(1, ...values)
  const step = values.length > 1 ? (width - 2) / (values.length - 1) : 0
  const points = values.map(
    (value, index) => `${(1 + index * step).toFixed(1)},${(height - 2 - (value / most) * (height - 5)).toFixed(1)}`,
  )
  return (
    <svg className={styles[`${tone}Line`]} width={width} height={height} role="img" aria-label={label}>
      <polygon className={styles.under} points={`1,${height} ${points.join(' ')} ${width - 1},${height}`} />
      <polyline className={styles.line} points={points.join(' ')} />
    </svg>
  )
}
