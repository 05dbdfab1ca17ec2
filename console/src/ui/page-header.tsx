import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { Icon } from './icon.tsx'
import { PageLink } from './link.tsx'
import styles from './page-header.module.css'

interface PageHeaderProps {
  title: ReactNode
  /** The title of the browser tab if `title` is not a string. */
  name?: string
  detail?: ReactNode
  /** The list this page belongs to. */
  back?: { to: string; title: string }
  /** Next to the title: a StatusBadge. */
  badge?: ReactNode
  actions?: ReactNode
  /** At the bottom of the header: Tabs. */
  children?: ReactNode
}

/** The header of a page: title and actions. It also sets the title of the browser tab. */
export function PageHeader({ title, name, detail, back, badge, actions, children }: PageHeaderProps) {
  const tab = name ?? (typeof title === 'string' ? title : 'Parley')
  useEffect(() => {
    document.title = tab === 'Parley' ? tab : `${tab} · Parley`
  }, [tab])
  const head = useRef<HTMLElement>(null)
  // Sticky elements below this header, such as table heads, need its height.
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
