import type { Delivery } from '@parley/contract/console/deliveries'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useTotal } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { type DeliveryName, useRetrySeveral } from './deliveries.queries.ts'
import { countOf } from './delivery-tabs.ts'
import { RetryAllDialog } from './retry-all-dialog.tsx'
import type { Selection } from './selection.ts'
import { SendAgainDialog } from './send-again-dialog.tsx'

interface SelectedActionsProps {
  selection: Selection
  query: Readonly<Record<string, string>>
  rows: readonly Delivery[]
}

/** Retries the selected deliveries, or all that match. Asks first if there are many, or receivers have some already. */
export function SelectedActions({ selection, query, rows }: SelectedActionsProps) {
  const { keys, isAll, clear } = selection
  const { data: matching } = useTotal(useHere().api('deliveries'), query, ['deliveries'])
  const retry = useRetrySeveral()
  const [isAsking, setIsAsking] = useState(false)
  const names = [...keys].map(nameOf)
  const delivered = rows.filter(({ event_id, webhook_id, state }) => {
    return state === 'delivered' && keys.has(`${event_id}.${webhook_id}`)
  }).length
  const all = matching && countOf(matching)
  const hasMore = !isAll && all !== undefined && Number(matching?.total) > keys.size
  const close = () => setIsAsking(false)
  return (
    <section aria-label="Selected deliveries">
      <span role="status">
        {isAll ? `All ${all ?? ''} that match are selected` : `${plural(keys.size, 'delivery', 'deliveries')} selected`}
      </span>
      {hasMore && (
        <Button kind="secondary" size="s" onClick={selection.chooseAll}>
          Select all {all}
        </Button>
      )}
      <Button
        kind="primary"
        size="s"
        icon="retry"
        busy={retry.isPending}
        onClick={() => (isAll || delivered > 0 ? setIsAsking(true) : retry.run(names, { onDone: clear }))}
      >
        {isAll ? 'Retry all' : 'Retry selected'}
      </Button>
      <Button kind="quiet" size="s" onClick={clear}>
        Clear
      </Button>
      {isAsking &&
        (isAll ? (
          <RetryAllDialog query={query} all={all} onClose={close} onDone={clear} />
        ) : (
          <SendAgainDialog delivered={delivered} action={retry} input={names} onClose={close} onDone={clear} />
        ))}
    </section>
  )
}

/** The delivery of a row's key. */
export function nameOf(key: string): DeliveryName {
  const [event_id = '', webhook_id = ''] = key.split('.')
  return { event_id, webhook_id }
}
