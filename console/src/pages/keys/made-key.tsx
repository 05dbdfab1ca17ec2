import type { MadeKey } from '@parley/contract/console/keys'
import { useState } from 'react'
import { useSession } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { CodeTabs } from '../../ui/code-block.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { Switch } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Row, Stack } from '../../ui/layout.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './keys.module.css'
import { useFirstUse } from './keys.queries.ts'
import { snippetsFor } from './snippets.ts'

/** The one time a key's secret is shown: to be taken away, and tried at once. */
export function MadeKeyDialog({ made, onClose }: { made: MadeKey; onClose: () => void }) {
  const { public_url: url } = useSession()
  const [taken, setTaken] = useState(false)
  const [asking, setAsking] = useState(false)
  const [filled, setFilled] = useState(false)
  return (
    <>
      <Dialog
        open
        firm
        onClose={onClose}
        size="l"
        title="Your new key"
        detail={
          <>
            <bdi>{made.key.name}</bdi> is ready. Copy its secret now.
          </>
        }
        actions={
          <Button kind="primary" onClick={() => (taken ? onClose() : setAsking(true))}>
            Done
          </Button>
        }
      >
        <Stack gap={5}>
          {made.warnings.map((warning) => (
            <Notice key={warning} tone="warn">
              {warning}
            </Notice>
          ))}
          <SecretOnce label="API key" secret={made.secret} variable="PARLEY_API_KEY" onTaken={() => setTaken(true)} />
          <Stack gap={2}>
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
        <p>The secret was neither copied nor downloaded. Once closed, it cannot be shown again by anybody.</p>
      </ConfirmDialog>
    </>
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
