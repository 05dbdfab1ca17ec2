import { randomBytes } from 'node:crypto'
import type { BodyStream } from './call.ts'

/** A file to upload to the network. */
export interface OutgoingFile {
  name: string
  mimeType: string
  size: number
  open(): AsyncIterable<Buffer>
}

/** The body of an upload: `multipart/form-data` with the file, which is read while it is sent. */
export function uploadBody(file: OutgoingFile): BodyStream {
  const boundary = `parley-${randomBytes(16).toString('hex')}`
  const part = (headers: string, content: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${content}`
  // No character that could end the header. The recipient never sees this name.
  const name = file.name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-100) || 'file'
  const before = Buffer.from(
    part('name="messaging_product"', 'whatsapp\r\n') +
      part('name="type"', `${file.mimeType}\r\n`) +
      part(`name="file"; filename="${name}"\r\nContent-Type: ${file.mimeType}`, ''),
  )
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: before.length + file.size + after.length,
    async *open() {
      yield before
      yield* file.open()
      yield after
    },
  }
}
