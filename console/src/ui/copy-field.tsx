import { CopyButton } from './copy-button.tsx'
import styles from './copy-field.module.css'

/** A text to be taken elsewhere whole, such as a link or an address to paste: shown, and copied by one press. */
export function CopyField({
  label,
  text,
  shown = text,
  detail,
}: {
  label: string
  text: string
  /** As it is easier to read, where that differs. */
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
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
      {detail && <p className={styles.detail}>{detail}</p>}
    </div>
  )
}
