/** Receives a file as `multipart/form-data`, while it arrives: it is never in memory as a whole. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { BusboyInstance } from '@fastify/busboy'
import { maxUploadBytes } from '@parley/contract/media'
import { load } from '../lib/load.ts'
import { invalid, Refusal, refuse, refuseParam } from '../lib/refuse.ts'

export interface IncomingFile {
  /** Chosen by the client. */
  fileName: string
  mimeType: string
  bytes: AsyncIterable<Buffer>
}

/** The body of a request that consists of one file. */
export interface FileBody {
  /** The size of the body, which is slightly larger than the file. Null if the client does not say it. */
  length: number | null
  /** Calls `store` with the file. Returns its result once the whole body has arrived and has no other part. */
  receive<T>(store: (file: IncomingFile) => Promise<T>): Promise<T>
}

const fileField = 'file'
/** A file with the headers and boundaries around it. They may be larger than `partHeaderBytes`, the headers of one part. */
export const maxFileBodyBytes = maxUploadBytes + 64 * 1024
const partHeaderBytes = 16 * 1024

/** Refuses other types and files that are too large before anything is read. `open` starts reading. */
export function openFileBody({ headers }: IncomingMessage, open: () => AsyncIterable<Buffer>): FileBody {
  const type = headers['content-type'] ?? ''
  const encoding = headers['content-encoding']
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(type) || (encoding !== undefined && encoding !== 'identity')) {
    refuse('unsupported_media_type', { message: 'The request body must be multipart/form-data and not compressed.' })
  }
  const length = headers['content-length'] === undefined ? null : Number(headers['content-length'])
  if (length !== null && length > maxFileBodyBytes) throw tooLarge()
  return { length, receive: (store) => receiveFile(type, open(), store) }
}

const tooLarge = (): Refusal =>
  new Refusal('payload_too_large', { message: 'A file can be at most 100 MB (100,000,000 bytes).' })

async function receiveFile<T>(
  contentType: string,
  pieces: AsyncIterable<Buffer>,
  store: (file: IncomingFile) => Promise<T>,
): Promise<T> {
  const failure = Promise.withResolvers<never>()
  // Every step below races with it.
  failure.promise.catch(() => {})
  let stored: Promise<T> | undefined
  let receiving: Readable | undefined
  /** Also ends `store`, which would wait for more bytes. */
  const fail = (error: Error): void => {
    failure.reject(error)
    receiving?.destroy(error)
  }
  const parser = newParser(contentType)
  const finished = new Promise<void>((resolve) => parser.once('finish', resolve))
  parser.on('error', () => fail(notMultipart()))
  parser.on('file', (name: string | undefined, file, fileName: string | undefined, _encoding, mimeType) => {
    // A failed file is reported once, by `failure`.
    file.on('error', () => {})
    if (stored || name !== fileField) {
      file.resume()
      return fail(name === fileField ? twoFiles() : otherPart(name ?? ''))
    }
    file.once('limit', () => fail(tooLarge()))
    receiving = file
    stored = store({ fileName: fileName ?? '', mimeType, bytes: file })
    stored.catch(fail)
  })

  async function feed(): Promise<void> {
    for await (const piece of pieces) {
      if (!parser.write(piece)) await Promise.race([once(parser, 'drain'), failure.promise])
    }
    parser.end()
  }

  try {
    await Promise.race([feed(), failure.promise])
    await Promise.race([finished, failure.promise])
    if (!stored) return refuseParam(fileField, 'missing', 'The part "file" is required: the file to upload.')
    return await stored
  } catch (error) {
    fail(error as Error)
    // It may still be writing.
    await stored?.catch(() => {})
    throw error
  }
}

function newParser(contentType: string): BusboyInstance {
  const { Busboy } = load('@fastify/busboy') as typeof import('@fastify/busboy')
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fileSize: maxUploadBytes, headerSize: partHeaderBytes, headerPairs: 20 },
      // A part without a file name is reported too, instead of being collected as text.
      isPartAFile: () => true,
    })
  } catch {
    // The header has no boundary.
    throw notMultipart()
  }
}

const notMultipart = (): Refusal =>
  invalid([{ param: fileField, code: 'invalid', message: 'The request body is not valid multipart/form-data.' }])

const twoFiles = (): Refusal =>
  invalid([{ param: fileField, code: 'too_many', message: 'Upload one file per request.' }])

const otherPart = (name: string): Refusal => {
  const param = name.slice(0, 100)
  return invalid([{ param, code: 'unknown', message: `"${param}" is not a known part. Send one part, "file".` }])
}
