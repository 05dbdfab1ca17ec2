import type { MadeWebhook } from '@parley/contract/console/webhooks'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CodeTabs } from '../../ui/code-block.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { Stack } from '../../ui/layout.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { Notice } from '../../ui/states.tsx'
import { verifySnippets } from './verify-snippets.ts'

/** The one time an endpoint's signing secret is shown. */
export function MadeSecretDialog({ made, isNew, onClose }: { made: MadeWebhook; isNew: boolean; onClose: () => void }) {
  const [taken, setTaken] = useState(false)
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Dialog
        open
        firm
        size="l"
        onClose={onClose}
        title={isNew ? 'Your new webhook' : 'Your new signing secret'}
        detail={
          <>
            Every delivery to <bdi>{made.webhook.name}</bdi> is signed with this secret.
          </>
        }
        actions={
          <Button kind="primary" onClick={() => (taken ? onClose() : setAsking(true))}>
            Done
          </Button>
        }
      >
        <Stack gap={5}>
          {!isNew && (
            <Notice tone="warn" title="The old secret is dead.">
              From now on deliveries are signed with this one alone. Those that your receiver refuses until it knows the
              new secret are tried again.
            </Notice>
          )}
          <SecretOnce
            label="Signing secret"
            secret={made.secret}
            variable="PARLEY_WEBHOOK_SECRET"
            onTaken={() => setTaken(true)}
          />
          <Stack gap={2}>
            <strong>Verify each delivery</strong>
            <CodeTabs label="Verify each delivery" snippets={verifySnippets} />
          </Stack>
        </Stack>
      </Dialog>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="You won’t see this again"
        confirm="Close without copying"
        onConfirm={onClose}
      >
        <p>The secret was neither copied nor downloaded. If it is lost, a new one has to be issued.</p>
      </ConfirmDialog>
    </>
  )
}
