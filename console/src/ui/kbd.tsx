import styles from './kbd.module.css'

const isApple = /Mac|iP(hone|ad)/.test(navigator.platform)

/** Keyboard keys, separated by spaces: "g m", "mod k". `mod` is shown as ⌘ or Ctrl. */
export function Kbd({ keys }: { keys: string }) {
  return (
    <span className={styles.keys}>
      {keys.split(' ').map((key) => (
        <kbd key={key} className={styles.key}>
          {key === 'mod' ? (isApple ? '⌘' : 'Ctrl') : key.length === 1 ? key.toUpperCase() : key}
        </kbd>
      ))}
    </span>
  )
}
