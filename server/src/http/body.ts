import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { parse } from 'secure-json-parse'
import { Refusal } from '../lib/refuse.ts'

export const bodyMax = 256 * 1024
const depthMax = 64

/** Requests whose body is being read, and how to end the reading early; and those whose body turned out unreadable. */
const reading = new WeakMap<IncomingMessage, (refusal: Refusal) => void>()
const spoilt = new WeakMap<IncomingMessage, Refusal>()

/** What a request under /v1 says in its body; undefined where it has none. */
export async function readJson(request: IncomingMessage, withinMs: number): Promise<unknown> {
  const { headers } = request
  const type = headers['content-type']
  if (type === undefined && headers['transfer-encoding'] === undefined && !Number(headers['content-length'] ?? 0))
    return
  const encoding = headers['content-encoding']
  if (!/^\s*application\/json\s*(;|$)/i.test(type ?? '') || (encoding !== undefined && encoding !== 'identity')) {
    throw new Refusal('unsupported_media_type')
  }
  return parseJson(await readBody(request, bodyMax, withinMs))
}

/** The raw body, within its size and in time. Node's own time-out would cut the connection without an answer. */
export function readBody(request: IncomingMessage, max: number, withinMs: number): Promise<Buffer> {
  const refusal =
    Number(request.headers['content-length'] ?? 0) > max ? new Refusal('payload_too_large') : spoilt.get(request)
  if (refusal) return Promise.reject(refusal)
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = (act: () => void) => {
      clearTimeout(timer)
      reading.delete(request)
      // The listener for errors stays: a connection that breaks later must not bring the process down.
      request.off('data', take).off('end', done).off('close', cut)
      act()
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > max) finish(() => reject(new Refusal('payload_too_large')))
      else chunks.push(chunk)
    }
    const done = () => finish(() => resolve(Buffer.concat(chunks, size)))
    const cut = () => finish(() => reject(tooSlow()))
    const timer = setTimeout(cut, withinMs)
    reading.set(request, (refusal) => finish(() => reject(refusal)))
    // A client that goes away is no fault of ours, whatever the socket calls it.
    request.on('data', take).on('end', done).on('error', cut).on('close', cut)
  })
}

/** The rest of a body cannot be read: whoever reads it, or is going to, is told. */
export function spoilBody(request: IncomingMessage, refusal: Refusal): void {
  spoilt.set(request, refusal)
  reading.get(request)?.(refusal)
}

/** The rest of what came too slowly is not waited for. */
export const tooSlow = () => new Refusal('request_timeout', { headers: { Connection: 'close' } })

/** JSON as data only: not nested beyond reason, and without keys that would reach an object's prototype. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Refusal('invalid_json', { message: 'The body is not encoded in UTF-8.' })
  const text = bytes.toString('utf8')
  if (isTooDeep(text)) {
    throw new Refusal('invalid_json', { message: `The body is nested more than ${depthMax} levels deep.` })
  }
  try {
    return parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const forbidden = error instanceof SyntaxError && error.message.includes('forbidden prototype')
    throw new Refusal('invalid_json', {
      message: forbidden
        ? 'The body holds a key that is not allowed, such as "__proto__".'
        : `The body is not valid JSON: ${(error as Error).message.slice(0, 200)}`,
    })
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at)
    if (quoted) {
      if (letter === 92) at++
      else if (letter === 34) quoted = false
    } else if (letter === 34) quoted = true
    else if (letter === 91 || letter === 123) {
      if (++depth > depthMax) return true
    } else if (letter === 93 || letter === 125) depth--
  }
  return false
}
