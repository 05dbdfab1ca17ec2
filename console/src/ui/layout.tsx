import type { CSSProperties, ReactNode } from 'react'
import styles from './layout.module.css'

interface Flow {
  children: ReactNode
  /** In units of 4 px. Stack and Grid: 4 by default, Row: 2. */
  gap?: number
  align?: CSSProperties['alignItems']
  className?: string
}

/** A vertical stack. */
export function Stack({ children, gap = 4, align, className = '' }: Flow) {
  return (
    <div className={`${styles.stack} ${className}`} style={{ gap: gap * 4, alignItems: align }}>
      {children}
    </div>
  )
}

/** A horizontal row; wraps by default. */
export function Row({
  children,
  gap = 2,
  align = 'center',
  justify,
  wrap = true,
  className = '',
}: Flow & { justify?: CSSProperties['justifyContent']; wrap?: boolean }) {
  return (
    <div
      className={`${styles.row} ${className}`}
      style={{ gap: gap * 4, alignItems: align, justifyContent: justify, flexWrap: wrap ? 'wrap' : 'nowrap' }}
    >
      {children}
    </div>
  )
}

/** Equal columns, each at least `min` px wide, as many as fit. */
export function Grid({ children, min = 220, gap = 4 }: { children: ReactNode; min?: number; gap?: number }) {
  return (
    <div
      className={styles.grid}
      style={{ gap: gap * 4, gridTemplateColumns: `repeat(auto-fit, minmax(min(${min}px, 100%), 1fr))` }}
    >
      {children}
    </div>
  )
}

/** The content of an object with its properties on the right, or below on narrow screens. */
export const Sheet = ({ facts, children }: { facts: ReactNode; children: ReactNode }) => (
  <div className={styles.sheet}>
    <Stack gap={5}>{children}</Stack>
    {facts}
  </div>
)

/** A bordered surface with an optional heading and actions. `flush` removes the padding, for tables. */
export function Card({
  title,
  detail,
  actions,
  children,
  flush = false,
}: {
  title?: ReactNode
  detail?: ReactNode
  actions?: ReactNode
  children?: ReactNode
  flush?: boolean
}) {
  return (
    <section className={styles.card}>
      {(title || actions) && (
        <header className={styles.cardHead}>
          <div>
            {title && <h2 className={styles.cardTitle}>{title}</h2>}
            {detail && <p className={styles.cardDetail}>{detail}</p>}
          </div>
          {actions && <div className={styles.row}>{actions}</div>}
        </header>
      )}
      {children !== undefined && <div className={flush ? undefined : styles.cardBody}>{children}</div>}
    </section>
  )
}

/** A section of a settings page: title and description on the left, fields on the right. */
export function Section({ title, detail, children }: { title: ReactNode; detail?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <div>
        <h2 className={styles.cardTitle}>{title}</h2>
        {detail && <p className={styles.cardDetail}>{detail}</p>}
      </div>
      <div className={styles.stack} style={{ gap: 16 }}>
        {children}
      </div>
    </section>
  )
}

/** The body of a page below its header. `narrow` is for text and forms. */
export function PageBody({ children, narrow = false }: { children: ReactNode; narrow?: boolean }) {
  return <div className={`${styles.page} ${narrow ? styles.narrow : ''}`}>{children}</div>
}
