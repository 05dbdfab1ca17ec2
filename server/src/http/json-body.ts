import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { parse } from 'secure-json-parse'
import { refuse } from '../lib/refuse.ts'
import type { Bodies } from './bodies.ts'

const depthMax = 64

/** The parsed body of a request; undefined if it has none. Where it is optional, an empty one is none. */
export async function readJson(
  bodies: Bodies,
  request: IncomingMessage,
  withinMs: number,
  workspaceId: string | undefined,
  isOptional = false,
  source: 'client' | 'batch' = 'client',
): Promise<unknown> {
  const { headers } = request
  const type = headers['content-type']
  if (!hasBody(request) && (type === undefined || isOptional)) return
  const encoding = headers['content-encoding']
  if (!/^\s*application\/json\s*(;|$)/i.test(type ?? '') || (encoding !== undefined && encoding !== 'identity')) {
    refuse('unsupported_media_type')
  }
  return parseJson(await bodies.read(request, source, withinMs, workspaceId))
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Parses JSON. Refuses deep nesting, and keys that would change an object's prototype. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) refuse('invalid_json', { message: 'The request body is not valid UTF-8.' })
  const text = bytes.toString('utf8')
  if (isTooDeep(text)) {
    refuse('invalid_json', { message: `The request body is nested more than ${depthMax} levels deep.` })
  }
  try {
    return parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const forbidden = error instanceof SyntaxError && error.message.includes('forbidden prototype')
    refuse('invalid_json', {
      message: forbidden
        ? 'The request body contains a forbidden key, such as "__proto__".'
        : `The request body is not valid JSON: ${(error as Error).message.slice(0, 200)}`,
    })
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (isInString) {
      if (char === 92) at++
      else if (char === 34) isInString = false
    } else if (char === 34) isInString = true
    else if (char === 91 || char === 123) {
      if (++depth > depthMax) return true
    } else if (char === 93 || char === 125) depth--
  }
  return false
}
