import type { DeliveryDetail } from '@parley/contract/console/deliveries'
import { useState } from 'react'
import { formatTimesIn } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { Stack } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Loaded, Notice } from '../../ui/states.tsx'
import { lookOf, StatusBadge } from '../../ui/status-badge.tsx'
import { Countdown, Moment } from '../../ui/time.tsx'
import { WhyButton } from '../why-button.tsx'
import { Attempts } from './attempts.tsx'
import styles from './deliveries.module.css'
import { type DeliveryName, useDelivery, useRetry } from './deliveries.queries.ts'
import { deliveryStateText } from './labels.ts'
import { SendAgainDialog } from './send-again-dialog.tsx'

interface DeliveryDrawerProps {
  open: boolean
  name: DeliveryName
  onClose: () => void
}

/** One delivery: its state, every attempt, the next attempt and the payload. */
export function DeliveryDrawer({ open, name, onClose }: DeliveryDrawerProps) {
  const query = useDelivery(name)
  const delivery = query.data
  const mayRetry = useCan('deliveries:retry')
  return (
    <Drawer
      open={open}
      wide
      onClose={onClose}
      title={<span className="mono">{delivery?.event_type ?? 'Delivery'}</span>}
      badge={delivery && <StatusBadge status={delivery.state} />}
      actions={
        <>
          <WhyButton about={name.event_id} />
          {delivery && mayRetry && <RetryButton key={delivery.event_id} delivery={delivery} />}
        </>
      }
    >
      <Loaded query={query} what="The delivery">
        {(detail) => <DeliveryBody delivery={detail} />}
      </Loaded>
    </Drawer>
  )
}

/** Retries the delivery. Asks first if the receiver has it already. */
function RetryButton({ delivery }: { delivery: DeliveryDetail }) {
  const retry = useRetry(delivery)
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Button
        kind="primary"
        icon="retry"
        busy={retry.isPending}
        onClick={() => (delivery.state === 'delivered' ? setIsAsking(true) : retry.run())}
      >
        Retry
      </Button>
      {isAsking && (
        <SendAgainDialog delivered={1} action={retry} input={undefined} onClose={() => setIsAsking(false)} />
      )}
    </>
  )
}

function DeliveryBody({ delivery }: { delivery: DeliveryDetail }) {
  const here = useHere()
  const { message_id, webhook_id, next_attempt_at, waits_for } = delivery
  return (
    <Stack gap={6}>
      <Notice tone={lookOf(delivery.state).tone}>
        {deliveryStateText(delivery)}
        {next_attempt_at && (
          <>
            {' '}
            Attempt {delivery.ahead[0]?.number ?? 1} of {delivery.attempts_max} <Countdown at={next_attempt_at} />.
          </>
        )}
        {delivery.state === 'held' && delivery.disabled_reason && (
          <>
            {' '}
            Reason: <SafeText>{formatTimesIn(delivery.disabled_reason)}</SafeText>
          </>
        )}
      </Notice>
      <KeyValue
        facts={[
          { name: 'Event', value: <CopyId id={delivery.event_id} /> },
          { name: 'Created', value: <Moment at={delivery.created_at} /> },
          delivery.held_since !== null && { name: 'Held since', value: <Moment at={delivery.held_since} /> },
          waits_for !== null && {
            name: 'Waits for',
            value: (
              <PageLink to={here.path(`deliveries?event=${waits_for}`)} className="link mono">
                {waits_for}
              </PageLink>
            ),
          },
          {
            name: 'Webhook',
            value: (
              <>
                <PageLink to={here.path(`webhooks/${webhook_id}`)}>
                  <bdi>{delivery.webhook_name}</bdi>
                </PageLink>{' '}
                <bdi className="mono small quiet">{delivery.webhook_url}</bdi>
              </>
            ),
          },
          message_id !== null && {
            name: 'Message',
            value: (
              <PageLink to={here.path(`messages/${message_id}`)} className="link mono">
                {message_id}
              </PageLink>
            ),
          },
        ]}
      />
      <section aria-labelledby="attempts-title">
        <h3 id="attempts-title" className={styles.heading}>
          Attempts
        </h3>
        {delivery.tries.length === 0 && !delivery.under_way && delivery.ahead.length === 0 ? (
          <p className="quiet">None yet.</p>
        ) : (
          <Attempts delivery={delivery} />
        )}
      </section>
      <section aria-labelledby="body-title">
        <h3 id="body-title" className={styles.heading}>
          Payload
        </h3>
        {delivery.body === null ? (
          <p className="quiet">The event is past its retention period, so its payload has been deleted.</p>
        ) : (
          <JsonView title="Request body (the same for every attempt)" value={delivery.body} />
        )}
      </section>
    </Stack>
  )
}
