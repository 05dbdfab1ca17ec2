import { useState } from 'react'
import { formatNumber } from '../../lib/format.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useRetryMatching } from './deliveries.queries.ts'

interface RetryAllDialogProps {
  /** The filters of the list. */
  query: Readonly<Record<string, string>>
  /** How many match: "307", "10,000+". */
  all: string | undefined
  onClose: () => void
  onDone: () => void
}

/** Asks before all deliveries that match are retried, and shows how far the retries have come. */
export function RetryAllDialog({ query, all, onClose, onDone }: RetryAllDialogProps) {
  const [queued, setQueued] = useState<number | null>(null)
  const retry = useRetryMatching(setQueued)
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Retry all ${all ?? ''} deliveries`}
      confirm={`Retry all ${all ?? ''}`}
      danger={false}
      action={retry}
      input={query}
      onDone={onDone}
    >
      <p>{textOf(query.state)}</p>
      <p role="status">
        {queued === null
          ? 'Every delivery that matches the filters is retried, including those that are not loaded.'
          : `${formatNumber(queued)} of ${all ?? 'all'} queued.${retry.isPending ? ' Keep this page open.' : ''}`}
      </p>
    </ConfirmDialog>
  )
}

function textOf(state: string | undefined) {
  switch (state) {
    case 'failed':
      return 'Each one is attempted now and gets a new retry schedule.'
    case 'waiting':
      return 'Each one is attempted now and its retry schedule starts again.'
    case 'held':
      return 'Each one is attempted once, although its webhook is disabled, and held again if that fails. To send all of them, enable the webhook.'
    default:
      return (
        <>
          This includes events that receivers have accepted. A receiver that does not recognize a repeated{' '}
          <span className="mono">Webhook-Id</span> processes them twice.
        </>
      )
  }
}
