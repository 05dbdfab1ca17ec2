import type { ConsoleReplay } from '@parley/contract/console/replays'
import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useState } from 'react'
import { formatNumber, plural } from '../../lib/format.ts'
import { useCan } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { numberColumn, timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Meter } from '../../ui/figures.tsx'
import { Row } from '../../ui/layout.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'
import { useCancelReplay, useReplays } from './replays.queries.ts'

const which = { failed: 'Failed', missing: 'Never delivered', all: 'All' } as const

const holds = {
  webhook_disabled: 'The webhook is disabled',
  webhook_failing: 'The webhook is failing',
  workspace_suspended: 'The workspace is suspended',
} as const

/** The replays of a webhook with their progress. */
export function Replays({ webhook, onStart }: { webhook: ConsoleWebhook; onStart: () => void }) {
  const mayManage = useCan('webhooks:manage')
  const list = useReplays(webhook.id)
  const [cancelling, setCancelling] = useState<ConsoleReplay | null>(null)
  const start = mayManage && (
    <Button size="s" icon="retry" onClick={onStart}>
      Replay events
    </Button>
  )
  return (
    <>
      <DataTable
        label="Replays"
        list={list}
        rowKey={(replay) => replay.id}
        columns={columnsFor(mayManage ? setCancelling : null)}
        empty={
          <EmptyState icon="retry" title="No replays yet" action={start}>
            A replay sends past events to this webhook again, or for the first time.
          </EmptyState>
        }
      />
      {(list.rows?.length ?? 0) > 0 && <Row justify="flex-end">{start}</Row>}
      {cancelling && <CancelReplayDialog replay={cancelling} onClose={() => setCancelling(null)} />}
    </>
  )
}

function CancelReplayDialog({ replay, onClose }: { replay: ConsoleReplay; onClose: () => void }) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Cancel replay"
      confirm="Stop sending"
      action={useCancelReplay()}
      input={replay.id}
    >
      <p>
        {plural(Math.max(0, replay.total - replay.delivered - replay.failed), 'event')} that were not delivered yet are
        dropped from this replay. You can start another one later.
      </p>
    </ConfirmDialog>
  )
}

const columnsFor = (onCancel: ((replay: ConsoleReplay) => void) | null): Column<ConsoleReplay>[] => [
  {
    key: 'events',
    title: 'Events',
    cell: (replay) => (
      <span className="lines">
        <span>
          {which[replay.only]}, from <Moment at={replay.since} short /> to <Moment at={replay.until} short />
        </span>
        <span className="quiet small mono">{replay.id}</span>
      </span>
    ),
  },
  {
    key: 'state',
    title: 'Status',
    width: 150,
    cell: ({ state, hold }) =>
      hold ? (
        <span className="lines">
          <StatusBadge status="held" />
          <span className="quiet small">{holds[hold]}</span>
        </span>
      ) : (
        <StatusBadge status={state} />
      ),
  },
  { key: 'progress', title: 'Progress', width: 220, cell: (replay) => <Progress replay={replay} /> },
  numberColumn('rate', 'Pace', ({ rate }) => `${formatNumber(rate)}/s`, { width: 90, hideOn: 'tablet' }),
  timeColumn('started', 'Started', (replay) => replay.created_at, { width: 130 }),
  {
    key: 'actions',
    title: '',
    width: 90,
    align: 'right',
    cell: (replay) =>
      onCancel &&
      replay.state === 'running' && (
        <Button size="s" onClick={() => onCancel(replay)}>
          Cancel
        </Button>
      ),
  },
]

function Progress({ replay: { total, delivered, failed, counting } }: { replay: ConsoleReplay }) {
  const ended = delivered + failed
  return (
    <span className="lines">
      <span className="numbers">
        {formatNumber(delivered)} of {formatNumber(total)}
        {counting ? '+' : ''} delivered{failed > 0 ? `, ${formatNumber(failed)} failed` : ''}
      </span>
      <Meter value={total === 0 ? 0 : ended / total} label="Progress" />
    </span>
  )
}
