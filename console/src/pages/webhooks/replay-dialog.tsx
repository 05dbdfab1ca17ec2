import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { defaultReplayRate, type ReplayCoverage, replayRateMax } from '@parley/contract/replay'
import { useState } from 'react'
import { serviceNow } from '../../lib/clock.ts'
import { formatNumber, plural } from '../../lib/format.ts'
import { fromTimeField } from '../../lib/time-zone.ts'
import { useForm } from '../../lib/use-form.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { NumberInput, SegmentedControl, Select, TimeInput } from '../../ui/fields.tsx'
import { useReplayPreview, useStartReplay } from './replays.queries.ts'

/** The choices of how far to go back. `since` asks for a time. */
export const spans = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '24 hours' },
  { value: '604800', label: '7 days' },
  { value: 'since', label: 'Since…' },
]

const coverages: readonly { value: ReplayCoverage; label: string }[] = [
  { value: 'failed', label: 'Events that failed permanently' },
  { value: 'missing', label: 'Events that were never delivered to this webhook' },
  { value: 'all', label: 'All events, including delivered ones' },
]

interface Draft {
  span: string
  since: string
  only: ReplayCoverage
  rate: number | string
}

/** Sends past events to a webhook again, or for the first time. */
export function ReplayDialog({
  webhook,
  onClose,
  onStarted,
}: {
  webhook: ConsoleWebhook
  onClose: () => void
  onStarted: () => void
}) {
  // The preview and the replay cover the same time, however long the dialog is open.
  const [openedAt] = useState(() => serviceNow())
  const first: Draft = { span: '86400', since: '', only: 'failed', rate: defaultReplayRate }
  const form = useForm({
    first,
    check: ({ rate }) => ({ rate: typeof rate === 'number' ? undefined : 'Enter a number of events per second.' }),
    action: useStartReplay(webhook.id),
    input: ({ only, rate, ...when }) => ({ since: startOf(when, openedAt) ?? '', only, rate: Number(rate) }),
    onDone: () => {
      onClose()
      onStarted()
    },
  })
  const { values } = form
  const since = startOf(values, openedAt)
  return (
    <FormDialog
      onClose={onClose}
      title="Replay events"
      detail={
        <>
          Sends past events to <bdi>{webhook.name}</bdi>, oldest first, each with its own ID and a new retry schedule.
          New events are sent as usual.
        </>
      }
      form={form}
      submit="Start replay"
      disabled={since === null}
    >
      <SegmentedControl
        aria-label="Events of the last"
        data={spans}
        value={values.span}
        onChange={(span) => form.set({ span })}
        fullWidth
      />
      {values.span === 'since' && <TimeInput label="Since" {...form.text('since')} />}
      <Select
        label="Which events"
        data={[...coverages]}
        value={values.only}
        onChange={(only) => only && form.set({ only: only as ReplayCoverage })}
        allowDeselect={false}
      />
      <NumberInput
        label="Pace"
        description="Events per second at most. Retries are not counted."
        min={1}
        max={replayRateMax}
        allowDecimal={false}
        allowNegative={false}
        {...form.field('rate')}
      />
      <Preview
        webhookId={webhook.id}
        covered={since === null ? null : { since, only: values.only }}
        rate={values.rate}
      />
    </FormDialog>
  )
}

function Preview({
  webhookId,
  covered,
  rate,
}: {
  webhookId: string
  covered: { since: string; only: string } | null
  rate: number | string
}) {
  const { data, error, isFetching } = useReplayPreview(webhookId, covered)
  if (covered === null) return null
  if (error) return <p role="status">The events could not be counted.</p>
  if (!data || isFetching) return <p role="status">Counting the events…</p>
  const { count, more } = data
  if (count === 0 && !more) return <p role="status">It covers no events.</p>
  const events = more ? `${formatNumber(count)} events or more` : plural(count, 'event')
  const minutes = Math.ceil(count / Math.max(1, Number(rate)) / 60)
  return (
    <p role="status">
      It covers <strong>{events}</strong>
      {minutes > 1 && !more ? `, which takes about ${formatNumber(minutes)} minutes at this pace` : ''}.
    </p>
  )
}

/** Null if no valid time is entered. */
export function startOf({ span, since }: Pick<Draft, 'span' | 'since'>, now: number): string | null {
  const start = span === 'since' ? fromTimeField(since) : new Date(now - Number(span) * 1000)
  return start?.toISOString() ?? null
}
