import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useIsReconnecting } from '../lib/live.ts'
import { useNotices } from '../lib/notices.ts'
import { useWorkspace } from '../lib/session.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { PageLink } from '../ui/link.tsx'
import styles from './banners.module.css'

/** What one must know on every page: no connection, a suspended workspace, credits that run low. */
export function Banners() {
  const { workspace: asked } = useParams({ strict: false })
  const workspace = useWorkspace()
  const isOnline = useIsOnline()
  const isReconnecting = useIsReconnecting()
  const notices = useNotices(asked ?? '')
  return (
    <>
      <div role="status">
        {!isOnline && (
          <Banner tone="warn" icon="offline" title="You are offline.">
            What you see may be old. It is renewed when the connection is back.
          </Banner>
        )}
        {isOnline && isReconnecting && (
          <Banner tone="note" icon="retry" title="Reconnecting…">
            News from the service has stopped coming; what you see may be old.
          </Banner>
        )}
      </div>
      {workspace.suspended && (
        <Banner tone="bad" icon="pause" title="This workspace is suspended.">
          {workspace.suspended_reason ? (
            <bdi>{workspace.suspended_reason}</bdi>
          ) : (
            'Keys are refused and nothing is sent.'
          )}{' '}
          Ask the operator of this installation to resume it.
        </Banner>
      )}
      {notices.map(({ tone, title, detail, action }) => (
        <Banner key={title} tone={tone} icon="warning" title={title}>
          {detail} {action && <PageLink to={action.to}>{action.title}</PageLink>}
        </Banner>
      ))}
    </>
  )
}

function Banner({
  tone,
  icon,
  title,
  children,
}: {
  tone: 'note' | 'warn' | 'bad'
  icon: IconName
  title: string
  children: React.ReactNode
}) {
  return (
    <div className={`${styles.banner} ${styles[tone]}`}>
      <Icon name={icon} size={14} />
      <span className={styles.words}>
        <strong>{title}</strong> {children}
      </span>
    </div>
  )
}

function useIsOnline(): boolean {
  const [isOnline, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const look = () => setOnline(navigator.onLine)
    addEventListener('online', look)
    addEventListener('offline', look)
    return () => {
      removeEventListener('online', look)
      removeEventListener('offline', look)
    }
  }, [])
  return isOnline
}
