import type { ReactNode } from 'react'
import { ApiError, wordsOf } from '../lib/api.ts'
import { Button, ButtonLink } from './button.tsx'
import { CodeBlock } from './code-block.tsx'
import { CopyId } from './copy-button.tsx'
import { Icon, type IconName } from './icon.tsx'
import styles from './states.module.css'
import type { Tone } from './status-badge.tsx'

interface EmptyStateProps {
  icon?: IconName
  title: string
  children?: ReactNode
  /** The one next thing to do. */
  action?: ReactNode
  /** The same thing from a terminal. */
  curl?: string
  /** It stands for the whole page, so its title is the page's. */
  isPage?: boolean
}

/** Nothing here yet, and what to do next. */
export function EmptyState({ icon = 'circle', title, children, action, curl, isPage = false }: EmptyStateProps) {
  const Title = isPage ? 'h1' : 'h2'
  return (
    <div className={styles.state}>
      <span className={styles.icon}>
        <Icon name={icon} size={20} />
      </span>
      <Title className={styles.title}>{title}</Title>
      {children && <div className={styles.words}>{children}</div>}
      {action && <div className={styles.action}>{action}</div>}
      {curl && (
        <div className={styles.curl}>
          <CodeBlock code={curl} language="shell" />
        </div>
      )}
    </div>
  )
}

/** What could not be done, the id to ask about it by, and a way to try again. */
export function FailedState({ what, error, onRetry }: { what: string; error: unknown; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <div className={styles.state} role="alert">
      <span className={`${styles.icon} ${styles.bad}`}>
        <Icon name="warning" size={20} />
      </span>
      <h2 className={styles.title}>{what}</h2>
      <div className={styles.words}>{wordsOf(error)}</div>
      {requestId && (
        <div className={styles.request}>
          Request <CopyId id={requestId} />
        </div>
      )}
      {error instanceof ApiError && error.code === 'two_factor_required' && (
        <div className={styles.action}>
          <ButtonLink to="/account" kind="primary">
            Set up a second factor
          </ButtonLink>
        </div>
      )}
      {onRetry && (
        <div className={styles.action}>
          <Button icon="retry" onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  )
}

interface LoadedProps<Data> {
  /** What `useData` gives. */
  asked: { data: Data | undefined; error: unknown; refetch(): unknown }
  /** What could not be loaded: "The order". */
  what: string
  lines?: number
  children: (data: Data) => ReactNode
}

/** What was loaded, or that it is loading, or why it could not be. */
export function Loaded<Data>({ asked: { data, error, refetch }, what, lines = 8, children }: LoadedProps<Data>) {
  if (data !== undefined) return children(data)
  if (error) return <FailedState what={`${what} could not be loaded`} error={error} onRetry={() => void refetch()} />
  return <LoadingLines lines={lines} />
}

/** A grey place where something is about to be. */
export function Skeleton({ width = '100%', height = 12 }: { width?: number | string; height?: number | string }) {
  return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />
}

/** A few lines of skeleton, announced as loading. */
export function LoadingLines({ lines = 4 }: { lines?: number }) {
  return (
    <div className={styles.lines} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike
        <Skeleton key={line} width={`${[92, 78, 85, 64][line % 4]}%`} />
      ))}
    </div>
  )
}

/** A band of words across the page or a card. */
export function Notice({
  tone = 'note',
  title,
  children,
  action,
}: {
  tone?: Tone
  title?: ReactNode
  children?: ReactNode
  action?: ReactNode
}) {
  const icon: IconName = tone === 'good' ? 'checkCircle' : tone === 'warn' || tone === 'bad' ? 'warning' : 'info'
  return (
    <div className={`${styles.notice} ${styles[`${tone === 'calm' ? 'note' : tone}Notice`]}`}>
      <Icon name={icon} />
      <div className={styles.noticeWords}>
        {title && <strong>{title}</strong>}
        {title && children && ' '}
        {children}
      </div>
      {action}
    </div>
  )
}
