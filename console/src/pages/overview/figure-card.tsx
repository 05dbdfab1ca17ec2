import type { ReactNode } from 'react'
import { sum } from '../../parts/chart-steps.ts'
import type { Series } from '../../ui/chart-frame.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Skeleton } from '../../ui/states.tsx'
import type { Change } from './change.ts'
import styles from './figure-card.module.css'

export interface Figure {
  label: string
  value: ReactNode
  /** The list with what was counted. */
  to: string
  change?: Change | null
  /** Whether more of it is good or bad. Neither by default. */
  more?: 'good' | 'bad'
  /** Instead of a change. */
  note?: string
}

/** Two figures of the period, what has changed since the period before, and their plot. */
export function FigureCard({
  title,
  figures,
  children,
}: {
  title: string
  figures: readonly Figure[]
  children: ReactNode
}) {
  return (
    <section className={styles.card} aria-label={title}>
      <h2 className={styles.title}>{title}</h2>
      <div className={styles.figures}>
        {figures.map(({ label, value, to, change, more, note }) => (
          <PageLink key={label} to={to} className={styles.figure ?? ''}>
            <span className={styles.label}>{label}</span>
            <span className={styles.value}>{value}</span>
            <span className={styles.change}>{change ? <ChangeText change={change} more={more} /> : note}</span>
          </PageLink>
        ))}
      </div>
      {children}
    </section>
  )
}

const icons = { up: 'arrowUp', down: 'arrowDown' } as const

function ChangeText({ change: { direction, amount }, more }: { change: Change; more: 'good' | 'bad' | undefined }) {
  if (direction === 'same') return 'same'
  const isGood = more && (more === 'good') === (direction === 'up')
  return (
    <span className={more === undefined ? undefined : isGood ? styles.good : styles.bad}>
      <Icon name={icons[direction]} size={11} className="inline" />
      <span className="unseen">{direction} </span> {amount}
    </span>
  )
}

/** As high as a card with data. */
export function FigureCardLoading({ title }: { title: string }) {
  return (
    <section className={styles.card}>
      <h2 className={styles.title}>{title}</h2>
      <div className={styles.figures}>
        {[0, 1].map((figure) => (
          <div key={figure} className={styles.figure}>
            <Skeleton width={64} height={14} />
            <Skeleton width={84} height={24} />
            <Skeleton width={44} height={14} />
          </div>
        ))}
      </div>
      <PlotLoading />
    </section>
  )
}

export const plotHeight = 118

/** The chart, or words if there is no data. */
export function Plot({
  series,
  counts,
  empty,
  children,
}: {
  series: readonly Series[]
  counts: Readonly<Record<string, unknown>>
  empty: string
  children: ReactNode
}) {
  const total = sum(series.map(({ key }) => sum((counts[key] as number[] | undefined) ?? [])))
  // A chart is drawn once its width is known.
  if (total > 0) return <div className={styles.plot}>{children}</div>
  return <p className={styles.empty}>{empty}</p>
}

export const PlotLoading = () => (
  <div className={styles.plot}>
    <Skeleton height={plotHeight} />
  </div>
)
