import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { Icon } from './icon.tsx'
import { PageLink } from './link.tsx'
import styles from './page-header.module.css'

interface PageHeaderProps {
  title: ReactNode
  /** The tab's title, where `title` is not plain words. */
  name?: string
  detail?: ReactNode
  /** The list this page belongs to. */
  back?: { to: string; title: string }
  /** Stands beside the title: a StatusBadge. */
  badge?: ReactNode
  actions?: ReactNode
  /** Stands below, at the header's foot: Tabs. */
  children?: ReactNode
}

/** The top bar of a page: its title, and what can be done here. It also names the browser's tab. */
export function PageHeader({ title, name, detail, back, badge, actions, children }: PageHeaderProps) {
  const tab = name ?? (typeof title === 'string' ? title : 'Parley')
  useEffect(() => {
    document.title = tab === 'Parley' ? tab : `${tab} · Parley`
  }, [tab])
  const head = useRef<HTMLElement>(null)
  // What sticks below this header, such as a table's head, has to know how tall it is.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() =>
      document.documentElement.style.setProperty('--page-head', `${head.current?.offsetHeight ?? 0}px`),
    )
    if (head.current) observer.observe(head.current)
    return () => observer.disconnect()
  }, [])
  return (
    <header className={styles.header} ref={head}>
      <div className={styles.bar}>
        <div className={styles.words}>
          {back && (
            <PageLink to={back.to} className={styles.back}>
              {back.title}
              <Icon name="chevronRight" size={12} />
            </PageLink>
          )}
          <h1 className={styles.title} tabIndex={-1}>
            {title}
          </h1>
          {badge}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {detail && <p className={styles.detail}>{detail}</p>}
      {children}
    </header>
  )
}
