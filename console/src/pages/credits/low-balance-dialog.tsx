import { useForm } from '../../lib/use-form.ts'
import { LowBalanceInput, lowBalanceError } from '../../parts/low-balance-input.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { useChangeLowBalance } from './credits.queries.ts'

export function LowBalanceDialog({ open, onClose, now }: { open: boolean; onClose: () => void; now: number }) {
  const form = useForm({
    first: { low_balance: now as number | string },
    check: ({ low_balance }) => ({ low_balance: lowBalanceError(low_balance) }),
    action: useChangeLowBalance(),
    input: ({ low_balance }) => Number(low_balance),
    onDone: onClose,
  })
  return (
    <FormDialog open={open} onClose={onClose} title="Low-credit warning" size="s" form={form} submit="Save">
      <LowBalanceInput {...form.field('low_balance')} />
    </FormDialog>
  )
}
