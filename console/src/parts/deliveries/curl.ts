import type { Attempt, DeliveryDetail } from '@parley/contract/console/deliveries'
import { curlCommand, shellQuote } from '../../lib/shell.ts'
import { requestHeadersOf } from './labels.ts'

type Sent = Pick<DeliveryDetail, 'event_id' | 'event_type' | 'webhook_url' | 'custom_headers'>

/** A curl command that repeats an attempt, with its signatures. The values of the webhook's own headers are secrets. */
export function attemptToCurl(delivery: Sent, body: string, attempt: Attempt): string {
  const { webhook_url: url, custom_headers } = delivery
  const headers = [...requestHeadersOf(delivery, attempt), ...custom_headers.map((name) => `${name}: <value>`)]
  return curlCommand(url, [...headers.map((header) => `-H ${shellQuote(header)}`), `--data-raw ${shellQuote(body)}`])
}
