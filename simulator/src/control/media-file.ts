import type { FastifyReply, FastifyRequest } from 'fastify'
import { ControlError } from '../shape.ts'
import type { Control } from './control.ts'

/** What a browser can only show. Anything else could carry a script, and would run it beside the control API. */
const harmless = /^(image\/(png|jpeg|webp|gif)|audio\/[\w.+-]+|video\/[\w.+-]+)\b/

/** The bytes of a file, for a handset to show: unlike the download host, no token is asked for. A player may ask for a part. */
export function sendMedia(control: Control, id: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const file = control.media.get(id)
  if (!file) throw new ControlError(`media: there is no ${id}, or no more.`, 'media', 404)
  const { mimeType, filename, bytes } = file
  const isHarmless = harmless.test(mimeType)
  const response = reply.headers({
    'content-type': isHarmless ? mimeType : 'application/octet-stream',
    'content-disposition': `${isHarmless ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(filename ?? id)}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, max-age=3600',
    'accept-ranges': 'bytes',
  })
  const part = partOf(request.headers.range, bytes.length)
  if (!part) return response.send(bytes)
  return response
    .code(206)
    .header('content-range', `bytes ${part.from}-${part.to}/${bytes.length}`)
    .send(bytes.subarray(part.from, part.to + 1))
}

/** The part a player asks for; anything unusual gets the whole file, which is always a right answer. */
function partOf(range: string | undefined, size: number): { from: number; to: number } | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  if (first === '') return undefined
  const from = Number(first)
  const to = Math.min(last === '' ? size - 1 : Number(last), size - 1)
  return from <= to ? { from, to } : undefined
}
