import { type ReactNode, useEffect, useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import styles from './charts.module.css'

type ChartTone = 'accent' | 'good' | 'bad' | 'warn' | 'note' | 'calm'

export interface Series {
  key: string
  title: string
  tone: ChartTone
}

interface ChartFrameProps {
  label: string
  series: readonly Series[]
  /** The same values as a table. */
  table: { head: string[]; rows: string[][] }
  /** Of the plot in px. It is reserved before the width is known, so that nothing below moves. */
  height: number
  /** In place of the titles of the series. */
  legend?: ReactNode
  children: (width: number) => ReactNode
}

/** The legend of a chart, and a switch to a table with the same values. */
export function ChartFrame({ label, series, table, height, legend, children }: ChartFrameProps) {
  const [asTable, setAsTable] = useState(false)
  const [width, box] = useWidth()
  return (
    <figure className={styles.chart} aria-label={label}>
      <figcaption className={styles.legend}>
        {legend ??
          series.map(({ key, title, tone }) => (
            <span key={key} className={styles.entry}>
              <span className={`${styles.swatch} ${styles[tone]}`} />
              {title}
            </span>
          ))}
        <span className={styles.switch}>
          <IconButton
            icon={asTable ? 'chart' : 'table'}
            label={asTable ? 'Show as chart' : 'Show as table'}
            aria-pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          />
        </span>
      </figcaption>
      <div ref={box} style={{ minHeight: height }}>
        {asTable ? <FigureTable label={label} {...table} /> : width > 0 && children(width)}
      </div>
    </figure>
  )
}

function FigureTable({ label, head, rows }: { label: string; head: string[]; rows: string[][] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div className={styles.figures} tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...rest]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {rest.map((cell, index) => (
                <td key={head[index + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function useWidth(): [number, React.RefObject<HTMLDivElement | null>] {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!box.current) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return [width, box]
}

/** The tooltip of a bar or point under the pointer or with the focus. */
export function ChartTip({
  x,
  width,
  title,
  lines,
}: {
  x: number
  width: number
  title: string
  lines: readonly { tone: ChartTone; title: string; value: string }[]
}) {
  const isLeft = x < width / 2
  return (
    <div className={styles.tip} style={isLeft ? { left: x + 12 } : { right: width - x + 12 }}>
      <div className={styles.tipTitle}>{title}</div>
      {lines.map((line) => (
        <div key={line.title} className={styles.tipLine}>
          <span className={`${styles.swatch} ${styles[line.tone]}`} />
          <span>{line.title}</span>
          <span className={styles.tipValue}>{line.value}</span>
        </div>
      ))}
    </div>
  )
}
