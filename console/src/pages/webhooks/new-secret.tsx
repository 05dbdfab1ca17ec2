import type { CreatedWebhook } from '@parley/contract/console/webhooks'
import { CodeTabs } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import { verifySnippets } from './verify-snippets.ts'

/** Shows a new signing secret, once. */
export function NewSecretDialog({
  created,
  replaces,
  onClose,
}: {
  created: CreatedWebhook
  /** What happens to the old secret; nothing if the webhook is new. */
  replaces?: 'now' | 'when activated'
  onClose: () => void
}) {
  return (
    <SecretDialog
      onClose={onClose}
      title={replaces ? 'Your new signing secret' : 'Your new webhook'}
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
        replaces === 'now' ? (
          <Notice tone="warn" title="The old secret has stopped working.">
            Deliveries are now signed with the new secret. Deliveries that your endpoint rejects until you update it are
            retried.
          </Notice>
        ) : (
          replaces && (
            <Notice tone="note" title="The old secret still works.">
              Deliveries are signed with both. Give your endpoint the new one, then activate it.
            </Notice>
          )
        )
      }
    >
      <strong>Verify each delivery</strong>
      <CodeTabs label="Verify each delivery" snippets={verifySnippets} />
    </SecretDialog>
  )
}
