import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { parse } from 'secure-json-parse'
import { refuse } from '../lib/refuse.ts'
import type { Bodies } from './bodies.ts'

const depthMax = 64

/** What a request under /v1 says in its body; undefined where it has none. */
export async function readJson(bodies: Bodies, request: IncomingMessage, withinMs: number): Promise<unknown> {
  const { headers } = request
  const type = headers['content-type']
  if (type === undefined && headers['transfer-encoding'] === undefined && !Number(headers['content-length'] ?? 0))
    return
  const encoding = headers['content-encoding']
  if (!/^\s*application\/json\s*(;|$)/i.test(type ?? '') || (encoding !== undefined && encoding !== 'identity')) {
    refuse('unsupported_media_type')
  }
  return parseJson(await bodies.read(request, 'client', withinMs))
}

/** JSON as data only: not nested beyond reason, and without keys that would reach an object's prototype. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) refuse('invalid_json', { message: 'The body is not encoded in UTF-8.' })
  const text = bytes.toString('utf8')
  if (isTooDeep(text)) {
    refuse('invalid_json', { message: `The body is nested more than ${depthMax} levels deep.` })
  }
  try {
    return parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const forbidden = error instanceof SyntaxError && error.message.includes('forbidden prototype')
    refuse('invalid_json', {
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
