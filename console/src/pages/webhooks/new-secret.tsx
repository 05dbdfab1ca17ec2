import type { CreatedWebhook } from '@parley/contract/console/webhooks'
import { CodeTabs } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import { verifySnippets } from './verify-snippets.ts'

/** The one time an endpoint's signing secret is shown. */
export function NewSecretDialog({
  made,
  isNew,
  onClose,
}: {
  made: CreatedWebhook
  isNew: boolean
  onClose: () => void
}) {
  return (
    <SecretDialog
      onClose={onClose}
      title={isNew ? 'Your new webhook' : 'Your new signing secret'}
      detail={
        <>
          Every delivery to <bdi>{made.webhook.name}</bdi> is signed with this secret.
        </>
      }
      label="Signing secret"
      secret={made.secret}
      variable="PARLEY_WEBHOOK_SECRET"
      lost="If it is lost, a new one has to be issued."
      notice={
        !isNew && (
          <Notice tone="warn" title="The old secret is dead.">
            From now on deliveries are signed with this one alone. Those that your receiver refuses until it knows the
            new secret are tried again.
          </Notice>
        )
      }
    >
      <strong>Verify each delivery</strong>
      <CodeTabs label="Verify each delivery" snippets={verifySnippets} />
    </SecretDialog>
  )
}
