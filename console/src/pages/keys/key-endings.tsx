import type { ConsoleKey, GraceHours, MadeKey } from '@parley/contract/console/keys'
import { useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { Radio } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './keys.module.css'
import { useKeyDeeds } from './keys.queries.ts'

const graces: { hours: GraceHours; label: string; detail: string }[] = [
  { hours: 24, label: 'After 24 hours', detail: 'Time to deploy everywhere. Both keys work meanwhile.' },
  { hours: 1, label: 'After one hour', detail: 'Both keys work for an hour.' },
  { hours: 0, label: 'At once', detail: 'For a key that has leaked. Whatever uses it now is refused.' },
]

/** Replaces a key by a new one under the same rules. */
export function RotateKeyDialog({
  apiKey,
  onClose,
  onMade,
}: {
  apiKey: ConsoleKey
  onClose: () => void
  onMade: (made: MadeKey) => void
}) {
  const { rotate } = useKeyDeeds()
  const [hours, setHours] = useState<GraceHours>(24)
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null })
  const submit = async () => {
    setState({ busy: true, error: null })
    try {
      onMade(await rotate(apiKey.id, hours))
    } catch (error) {
      setState({ busy: false, error })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rotate key"
      detail={
        <>
          A new key with the name, scopes and limits of <bdi>{apiKey.name}</bdi>.
        </>
      }
      size="s"
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy}>
            Rotate key
          </Button>
        </>
      }
    >
      <Stack>
        <Radio.Group
          label="When the old key stops working"
          value={String(hours)}
          onChange={(value) => setHours(Number(value) as GraceHours)}
        >
          <Stack gap={3} className={styles.choices ?? ''}>
            {graces.map((grace) => (
              <Radio key={grace.hours} value={String(grace.hours)} label={grace.label} description={grace.detail} />
            ))}
          </Stack>
        </Radio.Group>
        {state.error !== null && (
          <div role="alert">
            <Notice tone="bad">{wordsOf(state.error)}</Notice>
          </div>
        )}
      </Stack>
    </Dialog>
  )
}

/** Stops a key for good. */
export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ConsoleKey; onClose: () => void }) {
  const { revoke } = useKeyDeeds()
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="Revoke key"
      confirm="Revoke key"
      typed={apiKey.name}
      onConfirm={async () => {
        await revoke(apiKey.id)
        toast.done('Key revoked')
      }}
    >
      <p>
        From the next request on, whatever uses <span className="mono">{apiKey.hint}</span> is refused. A revoked key
        does not come back.
      </p>
    </ConfirmDialog>
  )
}
