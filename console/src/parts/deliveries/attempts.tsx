import type { Attempt, DeliveryDetail } from '@parley/contract/console/deliveries'
import { testEventType } from '@parley/contract/events'
import { useState } from 'react'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Stack } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { Chip, HttpBadge, StatusBadge } from '../../ui/status-badge.tsx'
import { Duration, Moment } from '../../ui/time.tsx'
import { Timeline, type TimelineItem } from '../../ui/timeline.tsx'
import { attemptToCurl } from './curl.ts'
import styles from './deliveries.module.css'
import { errorLabels, requestHeadersOf, triggerLabels } from './labels.ts'

/** The attempts of a delivery, newest first, with the scheduled ones on top. */
export function Attempts({ delivery }: { delivery: DeliveryDetail }) {
  const { tries, ahead, under_way } = delivery
  const [showsAll, setShowsAll] = useState(false)
  const scheduled = showsAll ? ahead : ahead.slice(0, 1)
  const upcoming: TimelineItem[] = scheduled
    .map(({ number, at }) => ({
      key: `ahead ${number}`,
      title: `Attempt ${number} of ${delivery.attempts_max}`,
      at,
      isAhead: true,
      icon: 'clock' as const,
      children: number === ahead[0]?.number ? null : <span className="quiet">Only if the previous attempts fail.</span>,
    }))
    .toReversed()
  const now: TimelineItem[] = under_way
    ? [{ key: 'now', title: 'Sending now', tone: 'note', icon: 'progress', isAhead: true }]
    : []
  const made = tries
    .map(
      (attempt, index): TimelineItem => ({
        key: `${attempt.at} ${attempt.number} ${attempt.trigger}`,
        title: (
          <span className={styles.attemptTitle}>
            Attempt {attempt.number} of {delivery.attempts_max}
            {labelOf(delivery, attempt) && <Chip>{labelOf(delivery, attempt)}</Chip>}
            <Outcome attempt={attempt} />
          </span>
        ),
        at: attempt.at,
        tone: attempt.error === null ? 'good' : 'bad',
        icon: attempt.error === null ? 'check' : 'cross',
        aside: <Duration ms={attempt.duration_ms} />,
        children: <AttemptBody delivery={delivery} attempt={attempt} isOpen={index === tries.length - 1} />,
      }),
    )
    .toReversed()
  return (
    <Stack gap={3}>
      {ahead.length > 1 && (
        <div>
          <Button kind="quiet" size="s" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? 'Show next attempt only' : `Show all ${formatNumber(ahead.length)} scheduled attempts`}
          </Button>
        </div>
      )}
      <Timeline label="Attempts" items={[...upcoming, ...now, ...made]} />
    </Stack>
  )
}

/** A test event is sent by a person, so its first attempt is no retry. */
const labelOf = ({ event_type, tries }: DeliveryDetail, attempt: Attempt): string | null =>
  event_type === testEventType && attempt === tries[0] ? null : triggerLabels[attempt.trigger]

/** The result of an attempt: the status of the response, or the error if there was no response. */
export function Outcome({ attempt }: { attempt: Pick<Attempt, 'status' | 'error'> }) {
  const { status, error } = attempt
  if (status !== null) return <HttpBadge status={status} />
  return <StatusBadge status="failed" word={errorLabels[error ?? ''] ?? 'No response'} />
}

function AttemptBody({ delivery, attempt, isOpen }: { delivery: DeliveryDetail; attempt: Attempt; isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen)
  return (
    <Stack gap={2}>
      {attempt.trouble && (
        <Notice tone="bad" title={attempt.trouble.title}>
          {attempt.trouble.remedy}
        </Notice>
      )}
      <div className={styles.attemptFacts}>
        <Moment at={attempt.at} />
        {attempt.address && (
          <span>
            to <span className="mono">{attempt.address}</span>
          </span>
        )}
        <Button kind="quiet" size="s" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide response' : 'Show response'}
        </Button>
      </div>
      {open && (
        <>
          <ResponseBody attempt={attempt} />
          {attempt.response_headers && (
            <details className={styles.headers}>
              <summary>Response headers</summary>
              <CodeBlock language="http" code={attempt.response_headers} maxHeight={260} />
            </details>
          )}
          <details className={styles.headers}>
            <summary>Request headers</summary>
            <CodeBlock language="http" code={requestText(delivery, attempt)} />
          </details>
          {delivery.body !== null && (
            <div>
              <CopyButton text={attemptToCurl(delivery, delivery.body, attempt)}>Copy as curl</CopyButton>
            </div>
          )}
        </>
      )}
    </Stack>
  )
}

/** The values of the webhook's own headers are secrets, and may have changed since. */
const requestText = (delivery: DeliveryDetail, attempt: Attempt): string =>
  [...requestHeadersOf(delivery, attempt), ...delivery.custom_headers.map((name) => `${name}: (not shown)`)].join('\n')

/** The receiver's response as plain text, so nothing in it can run. */
export function ResponseBody({ attempt }: { attempt: Attempt }) {
  if (attempt.status === null) return <p className="quiet">There was no response.</p>
  if (attempt.response_body_bytes === 0) return <p className="quiet">The response has no body.</p>
  const size = attempt.response_body_cut
    ? `first ${formatBytes(attempt.response_body_bytes)}`
    : formatBytes(attempt.response_body_bytes)
  return <CodeBlock title={`Response body, ${size}`} code={attempt.response_body} maxHeight={260} />
}
