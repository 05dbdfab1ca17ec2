import styles from './logo.module.css'

/** Parley's logo, with the name next to it unless `named` is false. */
export function Logo({ size = 24, named = true }: { size?: number; named?: boolean }) {
  return (
    <span className={styles.logo}>
      <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden={named} role="img" aria-label="Parley">
        <rect className={styles.ground} width="32" height="32" rx="8" />
        <path className={styles.stroke} d="M9 25V13.5a6.5 6.5 0 0 1 6.5-6.5h1a6.5 6.5 0 0 1 0 13H14" />
        <circle className={styles.dot} cx="16" cy="13.5" r="1.9" />
      </svg>
      {named && (
        <span className={styles.name} style={{ fontSize: size * 0.66 }}>
          Parley
        </span>
      )}
    </span>
  )
}
