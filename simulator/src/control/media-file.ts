import type { FastifyReply, FastifyRequest } from 'fastify'
import { ControlError } from '../shape.ts'
import type { Control } from './control.ts'

/** Types that a browser only displays. Others could contain a script, which would run with access to the control API. */
const safeInline = /^(image\/(png|jpeg|webp|gif)|audio\/[\w.+-]+|video\/[\w.+-]+)\b/

/** Sends a media file to the handset, without a token. Supports byte ranges for audio and video players. */
export function sendMedia(control: Control, id: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const file = control.media.get(id)
  if (!file) throw new ControlError(`media: ${id} not found or deleted.`, 'media', 404)
  const { mimeType, filename, bytes } = file
  const isSafe = safeInline.test(mimeType)
  const response = reply.headers({
    'content-type': isSafe ? mimeType : 'application/octet-stream',
    'content-disposition': `${isSafe ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(filename ?? id)}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, max-age=3600',
    'accept-ranges': 'bytes',
  })
  const range = rangeOf(request.headers.range, bytes.length)
  if (!range) return response.send(bytes)
  return response
    .code(206)
    .header('content-range', `bytes ${range.from}-${range.to}/${bytes.length}`)
    .send(bytes.subarray(range.from, range.to + 1))
}

/** The requested byte range. For any other range syntax the whole file is sent, which is always valid. */
function rangeOf(range: string | undefined, size: number): { from: number; to: number } | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  if (first === '') return undefined
  const from = Number(first)
  const to = Math.min(last === '' ? size - 1 : Number(last), size - 1)
  return from <= to ? { from, to } : undefined
}
