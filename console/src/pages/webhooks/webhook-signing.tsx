import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useCan } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { CodeTabs } from '../../ui/code-block.tsx'
import { Row, Section } from '../../ui/layout.tsx'
import { verifySnippets } from './verify-snippets.ts'
import styles from './webhooks.module.css'

/** How a receiver knows that a delivery is ours. */
export function WebhookSigning({ webhook, onRotate }: { webhook: ConsoleWebhook; onRotate: () => void }) {
  const mayManage = useCan('webhooks:manage')
  return (
    <>
      <Section
        title="Signing secret"
        detail="It was shown once, when the webhook was made. If it is lost, or somebody else may know it, rotate it."
      >
        <Row justify="space-between">
          <code className="mono">{webhook.secret_hint}</code>
          {mayManage && (
            <Button icon="retry" onClick={onRotate}>
              Rotate secret
            </Button>
          )}
        </Row>
        <p className="quiet">A rotation kills the old secret at once; deliveries refused meanwhile are tried again.</p>
      </Section>
      <Section
        title="Verify each delivery"
        detail="Whoever knows your URL can post to it. Only we can sign with the secret."
      >
        <div className={styles.words}>
          <p>
            <code className="mono">Service-Signature: t=…,v1=…</code> is the HMAC-SHA256 of{' '}
            <code className="mono">{'<t>.<raw body>'}</code>, keyed with the secret as it was shown. The Standard
            Webhooks headers are sent as well.
          </p>
          <p>Refuse what is more than 300 seconds old, and take each event id once: the same event may come again.</p>
        </div>
        <CodeTabs label="Verify each delivery" snippets={verifySnippets} />
      </Section>
    </>
  )
}
