import { useLast } from '../../lib/last.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './apps.module.css'
import type { OperatedApp } from './apps.queries.ts'

/** What remains to be done at Meta once an app is known here. */
export function CallbackDialog({ app: open, onClose }: { app: OperatedApp | null; onClose: () => void }) {
  const app = useLast(open)
  const isPublic = app?.callback_url.startsWith('https://')
  return (
    <Dialog
      open={open !== null}
      onClose={onClose}
      title="What to do at Meta"
      detail={<bdi>{app?.name}</bdi>}
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      {app && (
        <>
          <ol className={styles.steps}>
            <li>Open the app at developers.facebook.com, then WhatsApp → Configuration → Webhook → Edit.</li>
            <li>Paste the callback URL below, and the verify token you gave here.</li>
            <li>
              Press Verify and save, then subscribe to the field messages (and to the others you want to hear of).
            </li>
            <li>Come back and connect an account to a workspace.</li>
          </ol>
          <CopyField label="Callback URL" text={app.callback_url} />
          {!isPublic && (
            <Notice tone="warn">
              Meta only posts to public https addresses. Set PUBLIC_URL to yours and start the service again.
            </Notice>
          )}
        </>
      )}
    </Dialog>
  )
}
