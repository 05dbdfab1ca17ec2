import { CopyButton } from './copy-button.tsx'
import styles from './copy-field.module.css'

/** A value to paste elsewhere, such as a link, with a copy button. */
export function CopyField({
  label,
  text,
  shown = text,
  detail,
}: {
  label: string
  text: string
  /** A more readable form to display; the button copies `text`. */
  shown?: string
  detail?: string
}) {
  return (
    <div>
      <div className={styles.label}>{label}</div>
      <div className={styles.row}>
        <code className={styles.text} translate="no">
          {shown}
        </code>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      {detail && <p className={styles.detail}>{detail}</p>}
    </div>
  )
}
