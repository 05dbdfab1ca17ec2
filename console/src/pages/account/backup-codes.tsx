import { saveFile } from '../../lib/download.ts'
import { useLeaveWarning } from '../../lib/leave-warning.ts'
import { useSession } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './account.module.css'

/** Ten codes, shown once. Each signs in once without the app. */
export function BackupCodes({ codes }: { codes: readonly string[] }) {
  const { person } = useSession()
  useLeaveWarning()
  const text = `${codes.join('\n')}\n`
  return (
    <>
      <ul className={styles.codes} translate="no" aria-label="Backup codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className={styles.buttons}>
        <CopyButton text={text}>Copy all</CopyButton>
        <Button
          icon="download"
          onClick={() =>
            saveFile(new Blob([`Parley backup codes for ${person.email}\n\n${text}`]), 'parley-backup-codes.txt')
          }
        >
          Download
        </Button>
      </div>
      <Notice tone="warn">
        Store them somewhere safe, such as a password manager. Each code works once, and they are not shown again.
      </Notice>
    </>
  )
}
