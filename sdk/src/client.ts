import type { Me } from '@parley/contract/key'
import type { Message, MessageFilters, MessageWithHistory } from '@parley/contract/message'
import type { List } from '@parley/contract/page'
import type { SendRequest } from '@parley/contract/send'
import type { Sender } from '@parley/contract/sender'
import type { Template } from '@parley/contract/template'
import type { Webhook } from '@parley/contract/webhook'
import { newTransport, type TransportOptions } from './transport.ts'

type Paging = { limit?: number; cursor?: string; order?: 'asc' | 'desc' }
type TemplateFilters = { name?: string; language?: string; status?: string; category?: string }

/** The service's API, a noun per member. */
export function newClient(options: TransportOptions) {
  const { get, post } = newTransport(options)
  return {
    me: () => get<Me>('/v1/me'),
    webhooks: { list: () => get<List<Webhook>>('/v1/webhook') },
    senders: {
      list: (page: Paging = {}) => get<List<Sender>>('/v1/senders', page),
      get: (id: string) => get<Sender>(`/v1/senders/${encodeURIComponent(id)}`),
    },
    templates: {
      list: (page: Paging & TemplateFilters = {}) => get<List<Template>>('/v1/templates', page),
      get: (id: string) => get<Template>(`/v1/templates/${encodeURIComponent(id)}`),
    },
    messages: {
      /** With an idempotency key the send happens once, however often it is tried. */
      send: (message: SendRequest, { idempotencyKey }: { idempotencyKey?: string } = {}) =>
        post<Message>('/v1/messages', message, idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
      list: (page: Paging & MessageFilters = {}) => get<List<Message>>('/v1/messages', page),
      get: (id: string) => get<MessageWithHistory>(`/v1/messages/${encodeURIComponent(id)}`),
    },
  }
}
