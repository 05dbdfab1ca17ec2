import type { Me, Webhook } from './contract.ts'
import { type FlowResponses, newFlowResponses } from './flow-responses.ts'
import { type Messages, newMessages } from './messages.ts'
import { newPages, type Pages } from './pages.ts'
import { newSenders, type Senders } from './senders.ts'
import { newTemplates, type Templates } from './templates.ts'
import { type CallOptions, newTransport, type TransportOptions } from './transport.ts'

export type ClientOptions = TransportOptions

/** The service's API, a noun per member. */
export interface Client {
  /** Whose key this is and what it may do. Any key may ask; good for a health check. */
  me(options?: CallOptions): Promise<Me>
  /** Who listens. They are made and changed in the console only. Scope `webhooks:read`. */
  webhooks: { list(options?: CallOptions): Pages<Webhook> }
  senders: Senders
  templates: Templates
  messages: Messages
  flowResponses: FlowResponses
}

export function newClient(options: ClientOptions): Client {
  const transport = newTransport(options)
  return {
    me: (given) => transport.get('/v1/me', {}, given),
    webhooks: { list: (given) => newPages(() => transport.get('/v1/webhook', {}, given)) },
    senders: newSenders(transport),
    templates: newTemplates(transport),
    messages: newMessages(transport),
    flowResponses: newFlowResponses(transport),
  }
}
