import type { EchoSource } from '@parley/contract/inbound'

/** Where the business wrote a message that this service did not send. */
export const echoSourceNames: Record<EchoSource, string> = {
  business_app: 'Business app',
  agent: 'Meta agent',
  other: 'Other app',
}
