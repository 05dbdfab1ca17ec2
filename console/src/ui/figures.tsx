import type { ReactNode } from 'react'
import styles from './figures.module.css'
import { PageLink } from './link.tsx'
import { Skeleton } from './states.tsx'

interface StatProps {
  label: string
  /** undefined while loading. */
  value: ReactNode | undefined
  detail?: ReactNode
  /** For example a Sparkline. */
  aside?: ReactNode
  to?: string
}

/** A key figure with a label. Put several into Stats. */
export function Stat({ label, value, detail, aside, to }: StatProps) {
  return (
    <div className={styles.stat}>
      <div className={styles.label}>
        {to ? (
          <PageLink to={to} className={styles.open}>
            {label}
          </PageLink>
        ) : (
          label
        )}
      </div>
      <div className={styles.line}>
        <span className={styles.value}>{value === undefined ? <Skeleton width={72} height={20} /> : value}</span>
        {aside}
      </div>
      {detail && <div className={styles.detail}>{detail}</div>}
    </div>
  )
}

/** Stat tiles in one bordered row. */
export function Stats({ children }: { children: ReactNode }) {
  return <div className={styles.stats}>{children}</div>
}

interface Fact {
  name: string
  value: ReactNode
}

/** Properties of an object. A value of null or undefined is left out. */
export function KeyValue({ facts }: { facts: readonly (Fact | false | '' | null | undefined)[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map((fact) => {
        if (!fact || fact.value === null || fact.value === undefined) return null
        return (
          <div key={fact.name} className={styles.fact}>
            <dt>{fact.name}</dt>
            <dd>{fact.value}</dd>
          </div>
        )
      })}
    </dl>
  )
}

/** A ratio as a bar, for example of a rate limit. `value` is between 0 and 1. */
export function Meter({
  value,
  label,
  tone = 'accent',
}: {
  value: number
  label: string
  tone?: 'accent' | 'warn' | 'bad'
}) {
  const percent = Math.round(Math.max(0, Math.min(1, value)) * 100)
  return (
    // biome-ignore lint/a11y/useSemanticElements: the meter element cannot be styled
    <div
      className={styles.meter}
      role="meter"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <div className={styles[tone]} style={{ width: `${percent}%` }} />
    </div>
  )
}
