import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { NumberInput, TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './workspaces.module.css'
import { type OperatedWorkspace, useCredit } from './workspaces.queries.ts'

export function CreditForm({ workspace }: { workspace: OperatedWorkspace }) {
  const form = useForm({
    first: { amount: '' as number | string, note: '' },
    check: ({ amount, note }) => ({
      amount:
        typeof amount === 'number' && amount !== 0 ? undefined : 'Enter a number of credits, such as 1000 or -50.',
      note: note.trim() ? undefined : 'Enter a note. It appears in the transactions.',
    }),
    action: useCredit(workspace),
    input: ({ amount, note }) => ({ amount: Number(amount), note: note.trim() }),
    onDone: (): void => form.reset(),
  })
  return (
    <Form form={form} className={styles.line}>
      <NumberInput
        className={styles.amount}
        label="Amount"
        allowDecimal={false}
        hideControls
        {...form.field('amount')}
      />
      <TextInput
        className={styles.grow}
        label="Note"
        placeholder="Invoice 2026-118"
        autoComplete="off"
        maxLength={200}
        {...form.text('note')}
      />
      <Button type="submit" busy={form.isPending}>
        {Number(form.values.amount) < 0 ? 'Remove' : 'Add'}
      </Button>
    </Form>
  )
}
