import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { formatCredits } from '../../lib/format.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { NumberInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import { toast } from '../../ui/toasts.tsx'
import { type Price, useOperatorDeeds, usePrices } from './workspaces.queries.ts'

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
          { key: 'item', title: 'Message', cell: ({ item }) => wordsFor(item) },
          {
            key: 'code',
            title: 'Item',
            hideOn: 'phone',
            cell: ({ item }) => <span className="mono quiet">{item}</span>,
          },
          {
            key: 'credits',
            title: 'Credits',
            width: 120,
            align: 'right',
            cell: ({ credits }) => <span className="numbers">{credits === 0 ? 'Free' : formatCredits(credits)}</span>,
          },
          {
            key: 'act',
            title: '',
            width: 110,
            align: 'right',
            cell: (price) => (
              <Button size="s" onClick={() => setChanged(price)}>
                Change<span className="unseen"> {wordsFor(price.item)}</span>
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
  const { setPrice } = useOperatorDeeds()
  const [credits, setCredits] = useState<number | string>(price.credits)
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async () => {
    if (state.busy) return
    if (typeof credits !== 'number') return setState({ busy: false, fault: 'Enter a whole number; 0 makes it free.' })
    setState({ busy: true, fault: null })
    try {
      await setPrice(price.item, credits)
      toast.done(`${wordsFor(price.item)}: ${formatCredits(credits)} from now on`)
      onClose()
    } catch (error) {
      setState({ busy: false, fault: (error instanceof ApiError && error.faultOf('credits')) || wordsOf(error) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      size="s"
      title={wordsFor(price.item)}
      detail="Counts for messages accepted from now on, in every workspace."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy} disabled={credits === price.credits}>
            Set the price
          </Button>
        </>
      }
    >
      <NumberInput
        label="Credits for each"
        min={0}
        max={1_000_000}
        allowDecimal={false}
        allowNegative={false}
        value={credits}
        onChange={setCredits}
        error={state.fault}
        data-autofocus
      />
    </Dialog>
  )
}

/** `template.MARKETING` → Template, marketing */
function wordsFor(item: string): string {
  const [type = '', category] = item.split('.')
  const words = type.replaceAll('_', ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  return category ? `${title}, ${category.toLowerCase()}` : title
}
