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
        What a message costs in every workspace, in credits. A change counts for messages accepted from then on. A
        category of templates without a price of its own costs what a template does.
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
                Change<span className="unseen"> {priceLabel(price.item)}</span>
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
      credits: typeof credits === 'number' ? undefined : 'Enter a whole number; 0 makes it free.',
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
      detail="Counts for messages accepted from now on, in every workspace."
      form={form}
      submit="Set the price"
      disabled={form.values.credits === price.credits}
    >
      <NumberInput
        label="Credits for each"
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
