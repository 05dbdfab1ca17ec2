import type { FlowResponse, FlowResponseFilters, PageQuery } from './contract.ts'
import { ParleyError } from './error.ts'
import { newPages, type Pages } from './pages.ts'
import { pathSegment } from './settings.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface FlowResponseQuery extends PageQuery, Omit<FlowResponseFilters, 'received_after' | 'received_before'> {
  received_after?: string | Date
  received_before?: string | Date
}

/** An uploaded file. Its content can be read once, as a stream or as bytes. */
export interface UploadedFile {
  /** The name given by the person who uploaded it. Do not use it as a path. */
  name: string
  /** Its media type. */
  type: string
  /** In bytes; null if unknown. */
  size: number | null
  stream: ReadableStream<Uint8Array>
  bytes(): Promise<Uint8Array>
}

/** Form submissions and their files. Scope `flow_responses:read`. */
export interface FlowResponses {
  list(query?: FlowResponseQuery, options?: CallOptions): Pages<FlowResponse>
  get(id: string, options?: CallOptions): Promise<FlowResponse>
  /**
   * Downloads a file. `index` is the `index` of an entry in `files`. While Parley is still fetching the file, the request is
   * retried. The timeout applies until the headers arrive; `signal` also aborts reading the content.
   */
  file(id: string, index: number, options?: CallOptions): Promise<UploadedFile>
}

export function newFlowResponses({ get, open }: Transport): FlowResponses {
  const path = (id: string) => `/v1/flow_responses/${pathSegment(id)}`
  return {
    list: (query = {}, options) =>
      newPages((cursor) => get('/v1/flow_responses', { ...query, ...(cursor && { cursor }) }, options)),
    get: async (id, options) => get(path(id), {}, options),
    async file(id, index, options) {
      return uploadedFile(await open(`${path(id)}/files/${encodeURIComponent(index)}`, options), options)
    },
  }
}

export function uploadedFile(response: Response, { signal }: CallOptions = {}): UploadedFile {
  const { headers } = response
  const size = headers.get('content-length')
  return {
    name: fileName(headers.get('content-disposition') ?? '') ?? 'file',
    type: headers.get('content-type') ?? 'application/octet-stream',
    size: size === null ? null : Number(size),
    stream: response.body ?? new ReadableStream({ start: (controller) => controller.close() }),
    async bytes() {
      if (response.bodyUsed) throw new TypeError('The content of the file was already read.')
      try {
        return new Uint8Array(await response.arrayBuffer())
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        const message = 'The connection ended before the file was complete. Download it again.'
        throw new ParleyError(message, { code: 'connection_failed', cause: error })
      }
    },
  }
}

/** RFC 6266: `filename*` can have any characters and takes precedence over `filename`. */
export function fileName(disposition: string): string | null {
  const [, encoded] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? []
  if (encoded) {
    try {
      return decodeURIComponent(encoded)
    } catch {
      // Invalid encoding: use the plain `filename`.
    }
  }
  const [, quoted, bare] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(disposition) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? bare ?? null
}
