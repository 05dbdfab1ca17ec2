import type { InboundMessageFilters, MarkAsRead, PageQuery, StoredInboundMessage } from './contract.ts'
import { newPages, type Pages } from './pages.ts'
import { pathSegment } from './settings.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface InboundMessageQuery
  extends PageQuery,
    Omit<InboundMessageFilters, 'received_after' | 'received_before'> {
  received_after?: string | Date
  received_before?: string | Date
}

/** Messages that people sent to the workspace's numbers. Scope `inbound:read`. */
export interface InboundMessages {
  list(query?: InboundMessageQuery, options?: CallOptions): Pages<StoredInboundMessage>
  /** `id` is the `message_id` of `message.received`. */
  get(id: string, options?: CallOptions): Promise<StoredInboundMessage>
  /** Marks a message as read, and with `typing` shows that you are typing. Scope `messages:send`. */
  markAsRead(id: string, request?: MarkAsRead, options?: CallOptions): Promise<void>
}

export function newInboundMessages({ get, post }: Transport): InboundMessages {
  const path = (id: string) => `/v1/inbound_messages/${pathSegment(id)}`
  return {
    list: (query = {}, options) =>
      newPages((cursor) => get('/v1/inbound_messages', { ...query, ...(cursor && { cursor }) }, options)),
    get: async (id, options) => get(path(id), {}, options),
    markAsRead: async (id, request = {}, options) => post(`${path(id)}/read`, request, null, options),
  }
}
