import { useStore } from '../lib/store.ts'
import { dismiss, type Toast, toasts } from '../lib/toasts.ts'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import styles from './toasts.module.css'

/** Renders the messages of lib/toasts. */
export function Toasts() {
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {useStore(toasts).map(({ id, kind, message }) => (
        <div key={id} className={styles.toast}>
          <Icon name={icons[kind]} className={styles[kind]} />
          <span className={styles.message}>{message}</span>
          <IconButton icon="cross" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}

const icons: Record<Toast['kind'], IconName> = { good: 'checkCircle', bad: 'warning', note: 'info' }
