import type { ConsoleKey, CreatedKey, GraceHours } from '@parley/contract/console/keys'
import { useForm } from '../../lib/use-form.ts'
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx'
import { Radio } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import styles from './keys.module.css'
import { useRevokeKey, useRotateKey } from './keys.queries.ts'

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
  onMade: (made: CreatedKey) => void
}) {
  const form = useForm({
    first: { grace_hours: '24' },
    action: useRotateKey(apiKey.id),
    input: ({ grace_hours }) => Number(grace_hours) as GraceHours,
    onDone: onMade,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Rotate key"
      detail={
        <>
          A new key with the name, scopes and limits of <bdi>{apiKey.name}</bdi>.
        </>
      }
      size="s"
      form={form}
      submit="Rotate key"
    >
      <Radio.Group label="When the old key stops working" {...form.field('grace_hours')}>
        <Stack gap={3} className={styles.choices ?? ''}>
          {graces.map((grace) => (
            <Radio key={grace.hours} value={String(grace.hours)} label={grace.label} description={grace.detail} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  )
}

/** Stops a key for good. */
export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ConsoleKey; onClose: () => void }) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Revoke key"
      confirm="Revoke key"
      typed={apiKey.name}
      action={useRevokeKey(apiKey.id)}
      input={undefined}
    >
      <p>
        From the next request on, whatever uses <span className="mono">{apiKey.hint}</span> is refused. A revoked key
        does not come back.
      </p>
    </ConfirmDialog>
  )
}
