import type { Me, Webhook } from './contract.ts'
import { type Events, newEvents } from './events.ts'
import { type FlowResponses, newFlowResponses } from './flow-responses.ts'
import { type InboundMessages, newInboundMessages } from './inbound-messages.ts'
import { type MediaFiles, newMediaFiles } from './media.ts'
import { type Messages, newMessages } from './messages.ts'
import { newPages, type Pages } from './pages.ts'
import { newSenders, type Senders } from './senders.ts'
import { newTemplates, type Templates } from './templates.ts'
import { type CallOptions, newTransport, type TransportOptions } from './transport.ts'

export type ClientOptions = TransportOptions

/** Parley's API, with one property per resource. */
export interface Client {
  /** The workspace, the key and its scopes. Works with any key, so it is a good health check. */
  me(options?: CallOptions): Promise<Me>
  /** The webhook endpoints. They are created and changed in the console only. Scope `webhooks:read`. */
  webhooks: { list(options?: CallOptions): Pages<Webhook> }
  senders: Senders
  templates: Templates
  messages: Messages
  inboundMessages: InboundMessages
  media: MediaFiles
  flowResponses: FlowResponses
  events: Events
}

export function newClient(options: ClientOptions): Client {
  const transport = newTransport(options)
  return {
    me: (callOptions) => transport.get('/v1/me', {}, callOptions),
    webhooks: { list: (callOptions) => newPages(() => transport.get('/v1/webhook', {}, callOptions)) },
    senders: newSenders(transport),
    templates: newTemplates(transport),
    messages: newMessages(transport),
    inboundMessages: newInboundMessages(transport),
    media: newMediaFiles(transport),
    flowResponses: newFlowResponses(transport),
    events: newEvents(transport),
  }
}
