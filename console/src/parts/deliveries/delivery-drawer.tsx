import type { DeliveryDetail } from '@parley/contract/console/deliveries'
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
import { Moment, TimeAgo } from '../../ui/time.tsx'
import { Attempts } from './attempts.tsx'
import styles from './deliveries.module.css'
import { type DeliveryName, useDelivery, useRetry } from './deliveries.queries.ts'
import { deliveryStateText } from './words.ts'

/** Why did this not arrive? One delivery, whole: where it stands, every attempt, what comes next, and what was sent. */
export function DeliveryDrawer({ open, name, onClose }: { open: boolean; name: DeliveryName; onClose: () => void }) {
  const asked = useDelivery(name)
  const delivery = asked.data
  const mayRetry = useCan('deliveries:retry')
  return (
    <Drawer
      open={open}
      wide
      onClose={onClose}
      title={<span className="mono">{delivery?.event_type ?? 'Delivery'}</span>}
      badge={delivery && <StatusBadge status={delivery.state} />}
      actions={delivery && mayRetry && <RetryButton name={name} />}
    >
      <Loaded asked={asked} what="The delivery">
        {(whole) => <Whole delivery={whole} />}
      </Loaded>
    </Drawer>
  )
}

function RetryButton({ name }: { name: DeliveryName }) {
  const retry = useRetry(name)
  return (
    <Button kind="primary" icon="retry" busy={retry.isPending} onClick={() => retry.run()}>
      Retry
    </Button>
  )
}

function Whole({ delivery }: { delivery: DeliveryDetail }) {
  const here = useHere()
  const { message_id, webhook_id, next_attempt_at } = delivery
  return (
    <Stack gap={6}>
      <Notice tone={lookOf(delivery.state).tone}>
        {deliveryStateText(delivery)}
        {next_attempt_at && (
          <>
            {' '}
            Next attempt <TimeAgo at={next_attempt_at} />.
          </>
        )}
        {delivery.disabled_reason && (
          <>
            {' '}
            The reason: <SafeText>{delivery.disabled_reason}</SafeText>
          </>
        )}
      </Notice>
      <KeyValue
        facts={[
          { name: 'Event', value: <CopyId id={delivery.event_id} /> },
          { name: 'Created', value: <Moment at={delivery.created_at} /> },
          {
            name: 'Endpoint',
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
          What is sent
        </h3>
        {delivery.body === null ? (
          <p className="quiet">The event is past its retention; its body is no longer kept.</p>
        ) : (
          <JsonView title="Body, the same bytes with every attempt" value={delivery.body} />
        )}
      </section>
    </Stack>
  )
}
