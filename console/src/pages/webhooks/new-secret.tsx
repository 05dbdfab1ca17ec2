import type { CreatedWebhook } from '@parley/contract/console/webhooks'
import { CodeTabs } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import { verifySnippets } from './verify-snippets.ts'

/** Shows a new signing secret, once. */
export function NewSecretDialog({
  created,
  isNew,
  onClose,
}: {
  created: CreatedWebhook
  isNew: boolean
  onClose: () => void
}) {
  return (
    <SecretDialog
      onClose={onClose}
      title={isNew ? 'Your new webhook' : 'Your new signing secret'}
      detail={
        <>
          Every delivery to <bdi>{created.webhook.name}</bdi> is signed with this secret.
        </>
      }
      label="Signing secret"
      secret={created.secret}
      variable="PARLEY_WEBHOOK_SECRET"
      lost="It cannot be recovered. If you lose it, rotate the secret."
      notice={
        !isNew && (
          <Notice tone="warn" title="The old secret no longer works.">
            Deliveries are now signed with the new secret. Deliveries that your endpoint rejects until you update it are
            retried.
          </Notice>
        )
      }
    >
      <strong>Verify each delivery</strong>
      <CodeTabs label="Verify each delivery" snippets={verifySnippets} />
    </SecretDialog>
  )
}
