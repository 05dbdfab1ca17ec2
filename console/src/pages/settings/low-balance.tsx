import { useForm } from '../../lib/use-form.ts'
import { LowBalanceInput, lowBalanceError } from '../../parts/low-balance-input.tsx'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './settings.module.css'
import { useChangeSettings, type WorkspaceSettings } from './settings.queries.ts'

export function LowBalanceForm({ settings }: { settings: WorkspaceSettings }) {
  const form = useForm({
    first: { low_balance: settings.low_balance as number | string },
    check: ({ low_balance }) => ({ low_balance: lowBalanceError(low_balance) }),
    action: useChangeSettings('Low-credit warning saved'),
    input: ({ low_balance }) => ({ low_balance: Number(low_balance) }),
  })
  return (
    <Form form={form} className={styles.line}>
      <LowBalanceInput {...form.field('low_balance')} />
      <Button type="submit" busy={form.isPending} disabled={form.values.low_balance === settings.low_balance}>
        Save
      </Button>
    </Form>
  )
}
