import type { Media } from './contract.ts'
import { type UploadedFile, uploadedFile } from './flow-responses.ts'
import { pathSegment } from './settings.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface UploadOptions extends CallOptions {
  filename?: string | undefined
}

export interface MediaFiles {
  /**
   * Uploads a file of up to 100 MB. Use its `id` as `image.id` and so on in `messages.send`; the type of the Blob decides as
   * what it can be sent. `openAsBlob` of `node:fs` and `Bun.file` read a file while it is sent. There is only one attempt; set
   * `timeoutMs` for a large file. Scope `messages:send`.
   */
  upload(file: Blob, options?: UploadOptions): Promise<Media>
  /**
   * Downloads the file of a received message. While Parley is still fetching it, the request is retried. The timeout applies
   * until the headers arrive; `signal` also aborts reading the content. Scope `inbound:read`.
   */
  ofMessage(messageId: string, options?: CallOptions): Promise<UploadedFile>
}

export function newMediaFiles({ open, postForm }: Transport): MediaFiles {
  return {
    async upload(file, { filename = nameOf(file), ...options } = {}) {
      const form = new FormData()
      form.set('file', file, filename)
      return postForm('/v1/media', form, options)
    },
    async ofMessage(messageId, options) {
      return uploadedFile(await open(`/v1/inbound_messages/${pathSegment(messageId)}/media`, options), options)
    },
  }
}

/** A `File` has a name, a `Blob` has none. */
const nameOf = (file: Blob): string => (file as { name?: string }).name || 'file'
