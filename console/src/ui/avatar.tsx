import styles from './avatar.module.css'

/** The initials of a name, on a color derived from the name. */
export function Avatar({ name, size = 24, square = false }: { name: string; size?: number; square?: boolean }) {
  const letters = name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase()
  const hue = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)
  return (
    <span
      className={styles.avatar}
      style={{
        width: size,
        height: size,
        fontSize: size * 0.42,
        borderRadius: square ? 6 : '50%',
        ['--hue' as string]: hue,
      }}
      aria-hidden="true"
    >
      {letters || '?'}
    </span>
  )
}
