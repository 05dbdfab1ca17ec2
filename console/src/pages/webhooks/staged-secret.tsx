import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useCan } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Row } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import type { WebhookAction } from './webhook-actions.tsx'

/** A notice while a new secret is waiting to be activated. */
export function StagedSecret({
  webhook,
  onAction,
}: {
  webhook: ConsoleWebhook
  onAction: (action: WebhookAction) => void
}) {
  const mayManage = useCan('webhooks:manage')
  if (webhook.staged_secret_hint === null) return null
  return (
    <Notice
      tone="note"
      title="A new signing secret is pending."
      action={
        mayManage && (
          <Row>
            <Button onClick={() => onAction('cancel rotation')}>Cancel rotation</Button>
            <Button kind="primary" icon="lock" onClick={() => onAction('activate')}>
              Activate new secret
            </Button>
          </Row>
        )
      }
    >
      Deliveries are signed with <span className="mono">{webhook.secret_hint}</span> and with{' '}
      <span className="mono">{webhook.staged_secret_hint}</span>. Activate the new one when your endpoint has it.
    </Notice>
  )
}
