import type { ReactNode } from 'react'
import { ApiError, errorMessage } from '../lib/api.ts'
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
  /** The next step. */
  action?: ReactNode
  /** The same step on the command line. */
  curl?: string
  /** It replaces the whole page, so its title is a level 1 heading. */
  isPage?: boolean
}

/** An empty list or page, with the next step. */
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

/** An error with its request ID and a button to retry. */
export function FailedState({ what, error, onRetry }: { what: string; error: unknown; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <div className={styles.state} role="alert">
      <span className={`${styles.icon} ${styles.bad}`}>
        <Icon name="warning" size={20} />
      </span>
      <h2 className={styles.title}>{what}</h2>
      <div className={styles.words}>{errorMessage(error)}</div>
      {requestId && (
        <div className={styles.request}>
          Request ID: <CopyId id={requestId} />
        </div>
      )}
      {error instanceof ApiError && error.code === 'two_factor_required' && (
        <div className={styles.action}>
          <ButtonLink to="/account?set_up=app" kind="primary">
            Set up two-factor authentication
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
  /** The result of `useData`. */
  query: { data: Data | undefined; error: unknown; refetch(): unknown }
  /** The subject of the error message: "The order". */
  what: string
  lines?: number
  children: (data: Data) => ReactNode
}

/** The data, or the loading or error state. */
export function Loaded<Data>({ query: { data, error, refetch }, what, lines = 8, children }: LoadedProps<Data>) {
  if (data !== undefined) return children(data)
  if (error) return <FailedState what={`${what} could not be loaded`} error={error} onRetry={() => void refetch()} />
  return <LoadingLines lines={lines} />
}

/** A gray placeholder for content that is loading. */
export function Skeleton({ width = '100%', height = 12 }: { width?: number | string; height?: number | string }) {
  return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />
}

/** Several skeleton lines, announced as loading. */
export function LoadingLines({ lines = 4 }: { lines?: number }) {
  return (
    <div className={styles.lines} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
        <Skeleton key={line} width={`${[92, 78, 85, 64][line % 4]}%`} />
      ))}
    </div>
  )
}

/** A message box across the page or a card. */
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
