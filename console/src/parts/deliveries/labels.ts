import type { Attempt, DeliveryDetail } from '@parley/contract/console/deliveries'
import { plural } from '../../lib/format.ts'

/** Why an attempt was made, unless it follows from the schedule. */
export const triggerLabels: Readonly<Record<Attempt['trigger'], string | null>> = {
  first: null,
  retry: null,
  manual: 'Manual retry',
  replay: 'Replay',
}

/** The label of an error class in a list. */
export const errorLabels: Readonly<Record<string, string>> = {
  dns: 'DNS failed',
  connect: 'No connection',
  tls: 'TLS failed',
  timeout: 'Timeout',
  blocked: 'Blocked',
  protocol: 'Invalid response',
}

/** The state of a delivery as a sentence. */
export function deliveryStateText(delivery: DeliveryDetail): string {
  const { state, attempts, under_way, waits_for, webhook_name, attempts_max } = delivery
  const made = plural(attempts, 'attempt')
  if (under_way) return 'An attempt is in progress.'
  switch (state) {
    case 'delivered':
      return `Delivered to ${webhook_name} after ${made}.`
    case 'failed':
      return attempts >= attempts_max && attempts > 1
        ? `All ${made} failed. There are no more automatic retries.`
        : `Failed after ${made}. There are no more automatic retries.`
    case 'held':
      return `Held because ${webhook_name} is disabled. It is sent when you enable the webhook.`
    case 'pending':
      if (waits_for)
        return 'Waiting until an earlier event of this conversation is delivered or has failed permanently.'
      return 'Queued. The first attempt is about to start.'
    case 'retrying':
      return `Not delivered after ${made}. It is retried automatically.`
  }
}

/** The headers of an attempt, except the headers that the webhook adds. */
export function requestHeadersOf(
  { event_id, event_type }: Pick<DeliveryDetail, 'event_id' | 'event_type'>,
  { at, signatures }: Pick<Attempt, 'at' | 'signatures'>,
): string[] {
  return [
    'Content-Type: application/json',
    `Service-Event: ${event_type ?? ''}`,
    `Service-Delivery: ${event_id}`,
    `Service-Signature: ${signatures.service_signature}`,
    `Webhook-Id: ${event_id}`,
    `Webhook-Timestamp: ${Math.floor(new Date(at).getTime() / 1000)}`,
    `Webhook-Signature: ${signatures.webhook_signature}`,
  ]
}
