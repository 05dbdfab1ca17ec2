import type { Message, MessageFilters, MessageWithHistory, PageQuery, SendRequest, SendType } from './contract.ts'
import type { TemplateContent } from './known-templates.ts'
import { newPages, type Pages } from './pages.ts'
import { pathSegment, readIdempotencyKey } from './settings.ts'
import type { CallOptions, Transport } from './transport.ts'

/** A message to send: `type` is the name of the property with the content. */
export type Outgoing = {
  [Type in SendType]: Omit<SendRequest, SendType | 'type'> & { type: Type } & {
    [Member in Type]: Member extends 'template' ? TemplateContent : NonNullable<SendRequest[Member]>
  }
}[SendType]

export interface MessageQuery extends PageQuery, Omit<MessageFilters, 'created_after' | 'created_before'> {
  created_after?: string | Date
  created_before?: string | Date
}

export interface SendOptions extends CallOptions {
  /**
   * Prevents sending twice. By default, each call generates a new key and keeps it across its retries. Pass your own if your
   * program may repeat the call itself: 1 to 255 visible ASCII characters.
   */
  idempotencyKey?: string | undefined
}

export interface Messages {
  /** Queues a message. Webhook events report when it is sent, delivered and read. Scope `messages:send`. */
  send(message: Outgoing, options?: SendOptions): Promise<Message>
  /** The messages sent with this key. Scope `messages:read`. */
  list(query?: MessageQuery, options?: CallOptions): Pages<Message>
  /** A message with its status history. Scope `messages:read`. */
  get(id: string, options?: CallOptions): Promise<MessageWithHistory>
}

export function newMessages({ get, post }: Transport): Messages {
  return {
    async send(message, { idempotencyKey = crypto.randomUUID(), ...options } = {}) {
      return post('/v1/messages', message, readIdempotencyKey(idempotencyKey), options)
    },
    list: (query = {}, options) =>
      newPages((cursor) => get('/v1/messages', { ...query, ...(cursor && { cursor }) }, options)),
    get: async (id, options) => get(`/v1/messages/${pathSegment(id)}`, {}, options),
  }
}
