import type { CreatedKey } from '@parley/contract/console/keys'
import { useState } from 'react'
import { useSession } from '../../lib/session.ts'
import { CodeTabs } from '../../ui/code-block.tsx'
import { Switch } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Row } from '../../ui/layout.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './keys.module.css'
import { useFirstUse } from './keys.queries.ts'
import { snippetsFor } from './snippets.ts'

/** The one time a key's secret is shown: to be taken away, and tried at once. */
export function NewKeyDialog({ made, onClose }: { made: CreatedKey; onClose: () => void }) {
  const { public_url: url } = useSession()
  const [filled, setFilled] = useState(false)
  return (
    <SecretDialog
      onClose={onClose}
      title="Your new key"
      detail={
        <>
          <bdi>{made.key.name}</bdi> is ready. Copy its secret now.
        </>
      }
      label="API key"
      secret={made.secret}
      variable="PARLEY_API_KEY"
      lost="Once closed, it cannot be shown again by anybody."
      notice={made.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
    >
      <Row justify="space-between">
        <strong>Try it</strong>
        <Switch
          size="xs"
          label="Put the key into the example"
          checked={filled}
          onChange={(event) => setFilled(event.currentTarget.checked)}
        />
      </Row>
      <CodeTabs label="Try it" snippets={snippetsFor(url, filled ? made.secret : null)} />
      <FirstUse id={made.key.id} />
    </SecretDialog>
  )
}

function FirstUse({ id }: { id: string }) {
  const key = useFirstUse(id)
  const used = key?.last_used_at
  return (
    <div className={used ? styles.arrived : styles.awaiting} role="status">
      {used ? <Icon name="checkCircle" size={16} /> : <span className={styles.beat} aria-hidden="true" />}
      {used ? (
        <span>
          The first request has arrived, from <span className="mono">{key.last_used_ip}</span>. The key works.
        </span>
      ) : (
        <span>Waiting for the first request…</span>
      )}
    </div>
  )
}
