import type { Attempt, DeliveryDetail } from '@parley/contract/console/deliveries'
import { formatNumber } from '../../lib/format.ts'

const triggers = { first: 'First attempt', retry: 'Retry', manual: 'Sent by hand' } as const

export const triggerWord = ({ trigger }: Pick<Attempt, 'trigger'>) => triggers[trigger]

/** An error class as it stands in a list. */
export const errorWords: Readonly<Record<string, string>> = {
  dns: 'No address',
  connect: 'No connection',
  tls: 'TLS failed',
  timeout: 'Timeout',
  blocked: 'Blocked',
  protocol: 'Broken answer',
}

/** Where a delivery stands, in one sentence. */
export function deliveryStateText(delivery: DeliveryDetail): string {
  const { state, attempts, under_way, webhook_name, attempts_max } = delivery
  const tried = `${formatNumber(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`
  if (under_way) return 'An attempt is being made right now.'
  switch (state) {
    case 'delivered':
      return `${webhook_name} has taken it, after ${tried}.`
    case 'failed':
      return attempts >= attempts_max
        ? `Every attempt failed, ${formatNumber(attempts)} in all. Nothing more happens by itself.`
        : `It was not taken, after ${tried}. Nothing more happens by itself.`
    case 'held':
      return `It is held because ${webhook_name} is disabled. It is sent as soon as the endpoint is enabled.`
    case 'pending':
      return 'It is about to be sent.'
    case 'retrying':
      return `It was not taken yet, after ${tried}. It is tried again by itself.`
  }
}

/** Headers of an attempt, as far as they are kept: a signature is made anew each time and not stored. */
export function headersOf({ event_id, event_type }: DeliveryDetail, { at }: Attempt): string {
  const seconds = Math.floor(new Date(at).getTime() / 1000)
  return [
    'Content-Type: application/json',
    `Service-Event: ${event_type ?? ''}`,
    `Service-Delivery: ${event_id}`,
    `Service-Signature: t=${seconds},v1=… (not kept)`,
    `Webhook-Id: ${event_id}`,
    `Webhook-Timestamp: ${seconds}`,
    'Webhook-Signature: v1,… (not kept)',
  ].join('\n')
}
