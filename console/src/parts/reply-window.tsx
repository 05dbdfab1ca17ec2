import { useNow } from '../lib/clock.ts'
import { Moment } from '../ui/time.tsx'
import styles from './reply-window.module.css'

/** When the 24-hour window of a conversation ends, with a countdown. It is information only: WhatsApp decides what it accepts. */
export function ReplyWindow({ expiresAt }: { expiresAt: string | null }) {
  const now = useNow()
  if (expiresAt === null) return <>Closed. The contact has not written to this sender.</>
  const leftMs = Date.parse(expiresAt) - now
  return (
    <>
      {leftMs > 0 ? 'Open until' : 'Closed since'} <Moment at={expiresAt} short />
      {leftMs > 0 && (
        <>
          {' '}
          <span className={styles.left}>({timeLeft(leftMs)} left)</span>
        </>
      )}
    </>
  )
}

export function useIsOpen(expiresAt: string | null): boolean {
  const now = useNow()
  return expiresAt !== null && Date.parse(expiresAt) > now
}

/** 23 h 12 min, 12 min, less than a minute. */
function timeLeft(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'less than a minute'
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
