import { useLast } from '../../lib/last.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './apps.module.css'
import type { OperatedApp } from './apps.queries.ts'

/** The setup steps in Meta's app dashboard after an app was added here. */
export function CallbackDialog({ app: open, onClose }: { app: OperatedApp | null; onClose: () => void }) {
  const app = useLast(open)
  const isPublic = app?.callback_url.startsWith('https://')
  return (
    <Dialog
      open={open !== null}
      onClose={onClose}
      title="Set up the webhook at Meta"
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
            <li>Open the app at developers.facebook.com and go to WhatsApp → Configuration → Webhook → Edit.</li>
            <li>Paste the callback URL below and the verify token you entered here.</li>
            <li>Click “Verify and save”, then subscribe to the messages field and any other fields you need.</li>
            <li>Come back here and connect an account to a workspace.</li>
          </ol>
          <CopyField label="Callback URL" text={app.callback_url} />
          {!isPublic && (
            <Notice tone="warn">
              Meta only sends webhooks to public HTTPS URLs. Set PUBLIC_URL to yours and restart the service.
            </Notice>
          )}
        </>
      )}
    </Dialog>
  )
}
