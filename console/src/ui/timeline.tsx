import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import type { Tone } from './status-badge.tsx'
import { TimeAgo } from './time.tsx'
import styles from './timeline.module.css'
import tones from './tones.module.css'

export interface TimelineItem {
  key: string
  title: ReactNode
  at?: string | null
  tone?: Tone
  icon?: IconName
  /** In the future: the next attempt. */
  isAhead?: boolean
  aside?: ReactNode
  children?: ReactNode
}

/** Events in order: the statuses of a message, the attempts of a delivery. */
export function Timeline({ label, items }: { label: string; items: readonly TimelineItem[] }) {
  return (
    <ol className={styles.timeline} aria-label={label}>
      {items.map(({ key, title, at, tone = 'calm', icon = 'circle', isAhead, aside, children }) => (
        <li key={key} className={`${styles.item} ${isAhead ? styles.ahead : ''}`}>
          <span className={`${styles.mark} ${tones[tone]}`}>
            <Icon name={icon} size={12} />
          </span>
          <div className={styles.body}>
            <div className={styles.head}>
              <span className={styles.title}>{title}</span>
              <span className={styles.aside}>
                {aside}
                {at !== undefined && <TimeAgo at={at} />}
              </span>
            </div>
            {children && <div className={styles.content}>{children}</div>}
          </div>
        </li>
      ))}
    </ol>
  )
}
