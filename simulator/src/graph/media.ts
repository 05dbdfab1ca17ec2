import type { FastifyInstance } from 'fastify'
import { newObjectId } from '../ids.ts'
import { errorBody, GraphError, refuse, refuseParameter, refuseUnknownObject } from '../network/errors.ts'
import { encryptedType, isValidMediaUrl, mediaUrl, storeMedia } from '../network/media.ts'
import type { Network } from '../network.ts'
import type { Media, PhoneNumber } from '../world.ts'
import { type Call, canAccess, edge } from './call.ts'
import { allMimes, bareMime, kindOfMime, maxBytesOf } from './media-kinds.ts'
import { authenticate, tokenText } from './token.ts'

export const mediaEdges = [
  edge('POST', 'number', 'media', upload),
  edge('GET', 'media', null, show),
  edge('DELETE', 'media', null, remove),
]

const uploadTtlMs = 30 * 86_400_000

async function upload(call: Call, number: PhoneNumber): Promise<unknown> {
  const file = call.form?.get('file')
  if (call.body.messaging_product !== 'whatsapp') refuseParameter('The parameter messaging_product is required.')
  if (!(file instanceof Blob)) return refuseParameter('The parameter file is required.')
  const mimeType = typeof call.body.type === 'string' && call.body.type.includes('/') ? call.body.type : file.type
  const kind = kindOfMime(mimeType)
  if (!kind)
    return refuseParameter(
      `Param file must be a file with one of the following types: ${allMimes().join(', ')}. Received file of type '${bareMime(mimeType) || 'application/octet-stream'}'.`,
    )
  if (file.size === 0) refuse(131053, 'The file is empty.')
  if (file.size > maxBytesOf(kind))
    refuse(131053, `The file is too big: ${file.size} bytes, and ${kind} files are at most ${maxBytesOf(kind)} bytes.`)
  const bytes = Buffer.from(await file.arrayBuffer())
  const filename = 'name' in file && typeof file.name === 'string' ? file.name : null
  const media = storeMedia(call.network, number, { bytes, mimeType, filename, ttlMs: uploadTtlMs })
  return { id: media.id }
}

function show(call: Call, media: Media): unknown {
  const { phone_number_id: numberId } = call.query
  const isExpired = new Date(media.expiresAt) <= call.network.timers.now() || media.mimeType === encryptedType
  if (isExpired || (numberId !== undefined && numberId !== media.numberId)) refuseUnknownObject('get', media.id)
  return {
    messaging_product: 'whatsapp',
    url: mediaUrl(call.network, media.id, 'getMedia'),
    mime_type: media.mimeType,
    sha256: media.sha256,
    file_size: media.size,
    id: media.id,
  }
}

function remove(call: Call, media: Media): unknown {
  call.network.world.media.delete(media.id)
  call.network.media.remove(media.id)
  call.network.changed()
  return { success: true }
}

/** `/v/` serves encrypted files without a token. The download host requires the access token and a User-Agent. */
export function downloadRoutes(server: FastifyInstance, network: Network): void {
  server.get('/v/:id', (request, reply) => {
    const media = network.world.media.get((request.params as { id: string }).id)
    const isAvailable = media?.mimeType === encryptedType && new Date(media.expiresAt) > network.timers.now()
    const bytes = isAvailable ? network.media.get(media.id) : undefined
    if (!bytes) return reply.code(404).type('text/plain').send('Not found')
    return reply.type('application/octet-stream').header('content-length', bytes.length).send(bytes)
  })
  server.get('/whatsapp_business/attachments/', (request, reply) => {
    const { mid, ext, hash } = request.query as Record<string, string>
    if (!request.headers['user-agent'])
      return reply.code(400).type('text/html').send('<!DOCTYPE html><html><body>Unsupported browser</body></html>')
    try {
      const token = authenticate(network, tokenText(request))
      const media = network.world.media.get(mid ?? '')
      const isValid = isValidMediaUrl(network, mid ?? '', Number(ext), hash ?? '')
      const bytes = media && isValid && canAccess(token, media.wabaId) ? network.media.get(media.id) : undefined
      if (!media || !bytes) return reply.code(404).type('text/plain').send('URL signature expired')
      return reply.type(media.mimeType).header('content-length', bytes.length).send(bytes)
    } catch (error) {
      if (!(error instanceof GraphError)) throw error
      return reply.code(error.error.status).send(errorBody(error.error, newObjectId(1)))
    }
  })
}
