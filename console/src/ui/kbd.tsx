import styles from './kbd.module.css'

const isApple = /Mac|iP(hone|ad)/.test(navigator.platform)

/** Keys as they are labelled: `mod` is ⌘ or Ctrl. Write several with a space: "g m", "mod k". */
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
