import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useIsReconnecting } from '../lib/live.ts'
import { useNotices } from '../lib/notices.ts'
import { useWorkspace } from '../lib/session.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { PageLink } from '../ui/link.tsx'
import styles from './banners.module.css'

/** Shown at the top of every page: no connection, a suspended workspace, notices such as low credits. */
export function Banners() {
  const { workspace: workspaceId } = useParams({ strict: false })
  const workspace = useWorkspace()
  const isOnline = useIsOnline()
  const isReconnecting = useIsReconnecting()
  const notices = useNotices(workspaceId ?? '')
  return (
    <>
      <div role="status">
        {!isOnline && (
          <Banner tone="warn" icon="offline" title="You are offline.">
            This page may be out of date. It refreshes when you are back online.
          </Banner>
        )}
        {isOnline && isReconnecting && (
          <Banner tone="note" icon="retry" title="Reconnecting…">
            Live updates are interrupted, so this page may be out of date.
          </Banner>
        )}
      </div>
      {workspace.suspended && (
        <Banner tone="bad" icon="pause" title="This workspace is suspended.">
          {workspace.suspended_reason ? (
            <bdi>{workspace.suspended_reason}</bdi>
          ) : (
            'API keys are rejected and no messages are sent.'
          )}{' '}
          To resume it, contact the operator of this installation.
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
    const update = () => setOnline(navigator.onLine)
    addEventListener('online', update)
    addEventListener('offline', update)
    return () => {
      removeEventListener('online', update)
      removeEventListener('offline', update)
    }
  }, [])
  return isOnline
}
