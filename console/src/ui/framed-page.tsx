import { type ReactNode, useEffect } from 'react'
import styles from './framed-page.module.css'
import { Logo } from './logo.tsx'

/** A page without navigation, for people who are not signed in: a card with the logo. */
export function FramedPage({
  title,
  detail,
  children,
  foot,
}: {
  title: string
  detail?: ReactNode
  children?: ReactNode
  foot?: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Parley`
  }, [title])
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <Logo size={28} />
        <h1 className={styles.title}>{title}</h1>
        {detail && <p className={styles.detail}>{detail}</p>}
        {children}
      </div>
      {foot && <div className={styles.foot}>{foot}</div>}
    </main>
  )
}
