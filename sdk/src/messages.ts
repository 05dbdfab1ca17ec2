import type {
  ErrorCode,
  ErrorType,
  FieldError,
  Message,
  MessageFilters,
  MessageWithHistory,
  PageQuery,
  SendRequest,
  SendType,
} from './contract.ts'
import { ParleyError } from './error.ts'
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

/** A message of a batch. With a key of its own it is sent once, in whichever call. */
export type BatchMessage = Outgoing & { idempotency_key?: string }

/** The result of a message of a batch. `index` is its place in the array. */
export type BatchResult =
  | { index: number; status: 202; message: Message; error?: undefined }
  | {
      index: number
      /** The status that the message alone would get. */
      status: number
      message?: undefined
      error: { type: ErrorType; code: ErrorCode; message: string; param?: string; errors?: FieldError[] }
    }

export interface BatchOptions extends SendOptions {
  /** Called after each request, with how many messages have a result. */
  onProgress?: ((progress: { done: number; total: number; accepted: number; rejected: number }) => void) | undefined
}

export interface Messages {
  /** Queues a message. Webhook events report when it is sent, delivered and read. Scope `messages:send`. */
  send(message: Outgoing, options?: SendOptions): Promise<Message>
  /**
   * Queues any number of messages, 500 in each request. A message that is rejected does not affect the others. To repeat a
   * call after a crash, pass the same messages and the same `idempotencyKey`: each message is sent once. Scope `messages:send`.
   */
  sendBatch(messages: readonly BatchMessage[], options?: BatchOptions): Promise<BatchResult[]>
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
    async sendBatch(messages, { idempotencyKey = crypto.randomUUID(), onProgress, ...options } = {}) {
      const results: BatchResult[] = []
      let rejected = 0
      for (const [number, part] of partsOf(messages).entries()) {
        const key = readIdempotencyKey(`${idempotencyKey}-${number}`)
        const request = post<{ data: BatchResult[] }>('/v1/messages/batch', { messages: part }, key, options)
        const { data } = await request.catch((error) => {
          // With the key of this request, a repeated call would send the accepted messages again.
          throw error instanceof ParleyError ? Object.assign(error, { idempotencyKey }) : error
        })
        const first = results.length
        for (const result of data) {
          results.push({ ...result, index: first + result.index })
          if (result.error) rejected++
        }
        const done = results.length
        onProgress?.({ done, total: messages.length, accepted: done - rejected, rejected })
      }
      return results
    },
    list: (query = {}, options) =>
      newPages((cursor) => get('/v1/messages', { ...query, ...(cursor && { cursor }) }, options)),
    get: async (id, options) => get(`/v1/messages/${pathSegment(id)}`, {}, options),
  }
}

/** Of a request, whose body may have 2 MiB. */
const partMax = { messages: 500, bytes: 1_900_000 }

function partsOf(messages: readonly BatchMessage[]): BatchMessage[][] {
  const encoder = new TextEncoder()
  const parts: BatchMessage[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const message of messages) {
    const size = encoder.encode(JSON.stringify(message)).length + 1
    const last = parts.at(-1)
    if (last && last.length < partMax.messages && bytes + size <= partMax.bytes) {
      last.push(message)
      bytes += size
    } else {
      parts.push([message])
      bytes = size
    }
  }
  return parts
}
