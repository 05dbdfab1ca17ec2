import type { ConsoleKey, CreatedKey, GraceHours } from '@parley/contract/console/keys'
import { useForm } from '../../lib/use-form.ts'
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx'
import { Radio } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import styles from './keys.module.css'
import { useRevokeKey, useRotateKey } from './keys.queries.ts'

const graces: { hours: GraceHours; label: string; detail: string }[] = [
  { hours: 24, label: 'After 24 hours', detail: 'Both keys work while you deploy the new one.' },
  { hours: 1, label: 'After 1 hour', detail: 'Both keys work for an hour.' },
  { hours: 0, label: 'Immediately', detail: 'For a leaked key. Requests with the old key fail from now on.' },
]

/** Replaces a key with a new key of the same name, scopes and limits. */
export function RotateKeyDialog({
  apiKey,
  onClose,
  onCreated,
}: {
  apiKey: ConsoleKey
  onClose: () => void
  onCreated: (created: CreatedKey) => void
}) {
  const form = useForm({
    first: { grace_hours: '24' },
    action: useRotateKey(apiKey.id),
    input: ({ grace_hours }) => Number(grace_hours) as GraceHours,
    onDone: onCreated,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Rotate key"
      detail={
        <>
          Creates a new key with the same name, scopes and limits as <bdi>{apiKey.name}</bdi>. It reads the same
          messages and shares the idempotency keys.
        </>
      }
      size="s"
      form={form}
      submit="Rotate key"
    >
      <Radio.Group label="The old key stops working" {...form.field('grace_hours')}>
        <Stack gap={3} className={styles.choices ?? ''}>
          {graces.map((grace) => (
            <Radio key={grace.hours} value={String(grace.hours)} label={grace.label} description={grace.detail} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  )
}

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
        Requests with <span className="mono">{apiKey.hint}</span> fail immediately. This cannot be undone.
      </p>
    </ConfirmDialog>
  )
}
