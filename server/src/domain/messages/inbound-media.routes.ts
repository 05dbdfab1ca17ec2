import { InboundMediaParams } from '@parley/contract/media'
import { sendBytes } from '../../http/bytes.ts'
import { bytesRoute } from '../../http/route.ts'
import { openInboundMedia } from './reading/inbound.ts'

export const inboundMediaRoutes = [
  bytesRoute({
    method: 'GET',
    path: '/v1/inbound_messages/:id/media',
    scope: 'inbound:read',
    summary: 'Download the file of a received message',
    description:
      'Returns the bytes of a picture, video, audio file, document or sticker as an attachment. While the file is being ' +
      'downloaded from WhatsApp, the request waits up to two seconds, then fails with 503 and `Retry-After`. If the files ' +
      'of the workspace have reached their quota, the error has `"reason": "quota_exceeded"` in `details`, and the file is ' +
      'downloaded when there is space. If WhatsApp deleted the file, its hash is wrong or it is past its retention, the ' +
      'request fails with 410. For a message without a file, it fails with 404.',
    tag: 'Inbound messages',
    params: InboundMediaParams,
    errors: ['file_expired'],
    handle: async (context, { params }) => {
      const { db, clock, caller } = context
      const file = await openInboundMedia(db, clock, caller.workspaceId, params.id)
      return sendBytes(file, { range: context.header('range'), ifRange: context.header('if-range') })
    },
  }),
]
