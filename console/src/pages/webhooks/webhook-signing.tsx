import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useCan } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { CodeTabs } from '../../ui/code-block.tsx'
import { Row, Section } from '../../ui/layout.tsx'
import { verifySnippets } from './verify-snippets.ts'
import styles from './webhooks.module.css'

/** The signing secret, and how to verify signatures with it. */
export function WebhookSigning({ webhook, onRotate }: { webhook: ConsoleWebhook; onRotate: () => void }) {
  const mayManage = useCan('webhooks:manage')
  return (
    <>
      <Section
        title="Signing secret"
        detail="Shown once, when the webhook was created. If it was lost or leaked, rotate it."
      >
        <Row justify="space-between">
          <code className="mono">{webhook.secret_hint}</code>
          {mayManage && (
            <Button icon="retry" onClick={onRotate}>
              Rotate secret
            </Button>
          )}
        </Row>
        <p className="quiet">
          Rotating signs with both until you activate the new one, or replaces it immediately. Deliveries that your
          endpoint rejects until then are retried.
        </p>
      </Section>
      <Section
        title="Verify each delivery"
        detail="Anyone can send requests to your URL. Only Parley can sign them with the secret."
      >
        <div className={styles.words}>
          <p>
            <code className="mono">Service-Signature: t=…,v1=…</code> is the HMAC-SHA256 of{' '}
            <code className="mono">{'<t>.<raw body>'}</code> with the full secret as the key. Standard Webhooks headers
            are sent as well. While a new secret is pending there are two signatures; accept either.
          </p>
          <p>Reject deliveries signed more than 300 seconds ago, and skip event IDs you have already processed.</p>
        </div>
        <CodeTabs label="Verify each delivery" snippets={verifySnippets} />
      </Section>
    </>
  )
}
