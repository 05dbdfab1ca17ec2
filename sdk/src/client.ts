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

export type ParleyOptions = TransportOptions

/** Parley's API, with one property per resource. */
export class Parley {
  /** The workspace, the key and its scopes. Works with any key, so it is a good health check. */
  readonly me: (options?: CallOptions) => Promise<Me>
  /** The webhook endpoints. They are created and changed in the console only. Scope `webhooks:read`. */
  readonly webhooks: { list(options?: CallOptions): Pages<Webhook> }
  readonly senders: Senders
  readonly templates: Templates
  readonly messages: Messages
  readonly inboundMessages: InboundMessages
  readonly media: MediaFiles
  readonly flowResponses: FlowResponses
  readonly events: Events

  constructor(options: ParleyOptions) {
    const transport = newTransport(options)
    this.me = (callOptions) => transport.get('/v1/me', {}, callOptions)
    this.webhooks = { list: (callOptions) => newPages(() => transport.get('/v1/webhook', {}, callOptions)) }
    this.senders = newSenders(transport)
    this.templates = newTemplates(transport)
    this.messages = newMessages(transport)
    this.inboundMessages = newInboundMessages(transport)
    this.media = newMediaFiles(transport)
    this.flowResponses = newFlowResponses(transport)
    this.events = newEvents(transport)
  }
}
