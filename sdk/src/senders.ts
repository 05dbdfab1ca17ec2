import type { PageQuery, Sender } from './contract.ts'
import { newPages, type Pages } from './pages.ts'
import { pathSegment } from './settings.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The phone numbers that the workspace sends from. Scope `senders:read`. */
export interface Senders {
  list(query?: PageQuery, options?: CallOptions): Pages<Sender>
  get(id: string, options?: CallOptions): Promise<Sender>
}

export function newSenders({ get }: Transport): Senders {
  return {
    list: (query = {}, options) =>
      newPages((cursor) => get('/v1/senders', { ...query, ...(cursor && { cursor }) }, options)),
    get: async (id, options) => get(`/v1/senders/${pathSegment(id)}`, {}, options),
  }
}
