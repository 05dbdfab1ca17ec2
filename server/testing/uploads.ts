import { request } from 'node:http'
import type { Media } from '@parley/contract/media'
import type { ApiResponse } from './call.ts'

interface Uploader {
  url: string
  secret: string
}

export interface UploadedPart {
  mimeType?: string
  fileName?: string
  field?: string
}

/** Uploads a file as a usual client does. */
export async function upload(
  { url, secret }: Uploader,
  bytes: Buffer,
  { mimeType = 'image/png', fileName = 'a.png', field = 'file' }: UploadedPart = {},
): Promise<ApiResponse & { body: Media }> {
  const form = new FormData()
  form.set(field, new Blob([new Uint8Array(bytes)], { type: mimeType }), fileName)
  return postForm({ url, secret }, form)
}

export async function postForm({ url, secret }: Uploader, body: FormData): Promise<ApiResponse & { body: Media }> {
  const response = await fetch(`${url}/v1/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body,
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Media }
}

const boundary = 'parley-test'

/** What comes before and after the bytes of the only file. */
export const frame = {
  contentType: `multipart/form-data; boundary=${boundary}`,
  before: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\nContent-Type: video/mp4\r\n\r\n`,
  after: `\r\n--${boundary}--\r\n`,
}

/** An upload whose bytes the test sends itself. */
export interface SlowUpload {
  write(bytes: Buffer | string): Promise<void>
  end(): void
  /** Closes the connection. */
  destroy(): void
  response: Promise<ApiResponse>
}

/** Starts an upload. Without a length, the body is sent in HTTP chunks. */
export function startUpload({ url, secret }: Uploader, length?: number): SlowUpload {
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': frame.contentType,
    ...(length !== undefined && {
      'content-length': frame.before.length + length + frame.after.length,
    }),
  }
  // A connection of its own: a test may not send all that it has announced.
  const sent = request(`${url}/v1/media`, { method: 'POST', headers, agent: false })
  const response = new Promise<ApiResponse>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (received) => {
      const chunks: Buffer[] = []
      for await (const chunk of received) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString()
      const pairs = Object.entries(received.headers).map(([name, value]) => [name, String(value)] as [string, string])
      resolve({ status: received.statusCode ?? 0, headers: new Headers(pairs), body: text && JSON.parse(text) })
    })
  })
  // A test that does not wait for it closes the connection.
  response.catch(() => {})
  sent.write(frame.before)
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (sent.destroyed || sent.write(bytes)) return resolve()
        const done = () => {
          sent.off('drain', done).off('close', done)
          resolve()
        }
        sent.on('drain', done).on('close', done)
      }),
    end: () => void sent.end(frame.after),
    destroy: () => void sent.destroy(),
    response,
  }
}
