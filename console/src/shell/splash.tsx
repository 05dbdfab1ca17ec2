import { Logo } from '../ui/logo.tsx'
import styles from './splash.module.css'

/** Shown while the session loads. */
export function Splash() {
  return (
    <div className={styles.splash} role="status" aria-label="Loading">
      <Logo size={32} named={false} />
    </div>
  )
}
