import { saveFile } from '../../lib/download.ts'
import { useSession } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { FirmDialog } from '../../ui/firm-dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './account.module.css'

interface BackupCodesDialogProps {
  codes: readonly string[] | null
  onClose: () => void
  title: string
  detail: string
}

/** Ten codes, shown once. Each signs in once without the app. Nothing is shown while they are null. */
export const BackupCodesDialog = ({ codes, ...frame }: BackupCodesDialogProps) => (
  <FirmDialog
    {...frame}
    open={codes !== null}
    done="I saved them"
    lost="Without backup codes, only an operator can help if you lose your phone."
  >
    {codes && <BackupCodes codes={codes} />}
  </FirmDialog>
)

function BackupCodes({ codes }: { codes: readonly string[] }) {
  const { person } = useSession()
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
