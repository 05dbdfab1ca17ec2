import type { Attempt, DeliveryDetail } from '@parley/contract/console/deliveries'
import { plural } from '../../lib/format.ts'

const triggers = { first: 'First attempt', retry: 'Retry', manual: 'Manual retry', replay: 'Replay' } as const

export const triggerLabel = ({ trigger }: Pick<Attempt, 'trigger'>) => triggers[trigger]

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
      return attempts >= attempts_max
        ? `All ${made} failed. There are no more automatic retries.`
        : `Failed after ${made}. There are no more automatic retries.`
    case 'held':
      return `Held because ${webhook_name} is disabled. It is sent when you enable the webhook.`
    case 'pending':
      if (waits_for)
        return 'Waiting until an earlier event of the same conversation is delivered or has failed for good.'
      return 'Queued. The first attempt is about to start.'
    case 'retrying':
      return `Not delivered after ${made}. It is retried automatically.`
  }
}

/** The headers of an attempt. Signatures are not stored, so they are left out. */
export function headersOf({ event_id, event_type }: DeliveryDetail, { at }: Attempt): string {
  const seconds = Math.floor(new Date(at).getTime() / 1000)
  return [
    'Content-Type: application/json',
    `Service-Event: ${event_type ?? ''}`,
    `Service-Delivery: ${event_id}`,
    `Service-Signature: t=${seconds},v1=… (not stored)`,
    `Webhook-Id: ${event_id}`,
    `Webhook-Timestamp: ${seconds}`,
    'Webhook-Signature: v1,… (not stored)',
  ].join('\n')
}
