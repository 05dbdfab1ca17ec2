import { wordsOf } from '../lib/api.ts'
import { createStore, useStore } from '../lib/store.ts'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import styles from './toasts.module.css'

interface Toast {
  id: number
  kind: 'good' | 'bad' | 'note'
  message: string
  action?: { title: string; run(): void }
}

const toasts = createStore<readonly Toast[]>([])
let lastId = 0

/** Short words at the foot of the page. `toast.failed` also takes an error; errors stay until dismissed. */
export const toast = {
  done: (message: string, action?: Toast['action']) => show('good', message, action),
  note: (message: string, action?: Toast['action']) => show('note', message, action),
  failed: (problem: unknown) => show('bad', typeof problem === 'string' ? problem : wordsOf(problem)),
}

export function Toasts() {
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {useStore(toasts).map(({ id, kind, message, action }) => (
        <div key={id} className={styles.toast}>
          <Icon name={icons[kind]} className={styles[kind]} />
          <span className={styles.message}>{message}</span>
          {action && (
            <button
              type="button"
              className={styles.action}
              onClick={() => {
                action.run()
                dismiss(id)
              }}
            >
              {action.title}
            </button>
          )}
          <IconButton icon="cross" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}

const icons: Record<Toast['kind'], IconName> = { good: 'checkCircle', bad: 'warning', note: 'info' }

function show(kind: Toast['kind'], message: string, action?: Toast['action']): void {
  lastId += 1
  const id = lastId
  toasts.set((before) => [...before.slice(-3), { id, kind, message, ...(action ? { action } : {}) }])
  if (kind !== 'bad') setTimeout(() => dismiss(id), action ? 10_000 : 5000)
}

function dismiss(id: number): void {
  toasts.set((before) => before.filter((each) => each.id !== id))
}
