import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { useHere } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { NumberInput } from '../../ui/fields.tsx'
import { toast } from '../../ui/toasts.tsx'
import { changeLowBalance } from './credits.queries.ts'

export function LowBalanceDialog({ open, onClose, now }: { open: boolean; onClose: () => void; now: number }) {
  const here = useHere()
  const client = useQueryClient()
  const [value, setValue] = useState<string | number>(now)
  const change = useMutation({
    mutationFn: () => changeLowBalance(here.api('credits'), Number(value)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [here.api('credits')] })
      toast.done('Saved')
      onClose()
    },
  })
  const error = change.error && (change.error instanceof ApiError ? change.error.message : wordsOf(change.error))
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="When to warn"
      size="s"
      onSubmit={() => change.mutate()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={change.isPending}>
            Save
          </Button>
        </>
      }
    >
      <NumberInput
        label="Warn when the balance is at or below"
        description="Everybody in this workspace then sees a notice."
        min={0}
        max={1_000_000_000}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
        value={value}
        onChange={setValue}
        error={error}
        data-autofocus
      />
    </Dialog>
  )
}
