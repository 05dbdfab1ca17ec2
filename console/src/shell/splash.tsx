import { Logo } from '../ui/logo.tsx'
import styles from './splash.module.css'

/** What stands while the console finds out who is there. */
export function Splash() {
  return (
    <div className={styles.splash} role="status" aria-label="Loading">
      <Logo size={32} named={false} />
    </div>
  )
}
