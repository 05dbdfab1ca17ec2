import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { priceColumns, priceLabel } from '../../parts/price-columns.tsx'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { NumberInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import { type Price, usePrices, useSetPrice } from './workspaces.queries.ts'

export function Prices() {
  const list = usePrices()
  const [changed, setChanged] = useState<Price | null>(null)
  return (
    <Stack>
      <p className="quiet">
        Credits per message, for all workspaces. Changes apply to messages accepted from then on. A template category
        without its own price costs the template price.
      </p>
      <DataTable
        label="Prices"
        list={list}
        rowKey={({ item }) => item}
        columns={[
          ...priceColumns,
          {
            key: 'act',
            title: '',
            width: 110,
            align: 'right',
            cell: (price) => (
              <Button size="s" onClick={() => setChanged(price)}>
                Edit<span className="unseen"> {priceLabel(price.item)}</span>
              </Button>
            ),
          },
        ]}
      />
      {changed && <PriceDialog price={changed} onClose={() => setChanged(null)} />}
    </Stack>
  )
}

function PriceDialog({ price, onClose }: { price: Price; onClose: () => void }) {
  const form = useForm({
    first: { credits: price.credits as number | string },
    check: ({ credits }) => ({
      credits: typeof credits === 'number' ? undefined : 'Enter a whole number, or 0 for free messages.',
    }),
    action: useSetPrice(price.item),
    input: ({ credits }) => Number(credits),
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      size="s"
      title={priceLabel(price.item)}
      detail="Applies to messages accepted from now on, in all workspaces."
      form={form}
      submit="Save price"
      disabled={form.values.credits === price.credits}
    >
      <NumberInput
        label="Credits per message"
        min={0}
        max={1_000_000}
        allowDecimal={false}
        allowNegative={false}
        {...form.field('credits')}
        data-autofocus
      />
    </FormDialog>
  )
}
