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

/** Shows the secret of a new key, once, with a request to try it. */
export function NewKeyDialog({ created, onClose }: { created: CreatedKey; onClose: () => void }) {
  const { public_url: url } = useSession()
  const [filled, setFilled] = useState(false)
  return (
    <SecretDialog
      onClose={onClose}
      title="Your new key"
      detail={
        <>
          Copy the secret of <bdi>{created.key.name}</bdi> now.
        </>
      }
      label="API key"
      secret={created.secret}
      variable="PARLEY_API_KEY"
      lost="It cannot be recovered. If you lose it, rotate the key."
      notice={created.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
    >
      <Row justify="space-between">
        <strong>Try it</strong>
        <Switch
          size="xs"
          label="Insert the key"
          checked={filled}
          onChange={(event) => setFilled(event.currentTarget.checked)}
        />
      </Row>
      <CodeTabs label="Try it" snippets={snippetsFor(url, filled ? created.secret : null)} />
      <FirstUse id={created.key.id} />
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
          First request received from <span className="mono">{key.last_used_ip}</span>. The key works.
        </span>
      ) : (
        <span>Waiting for the first request…</span>
      )}
    </div>
  )
}
