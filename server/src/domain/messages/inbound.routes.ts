import {
  InboundMessageFilters,
  InboundMessageParams,
  MarkAsRead,
  StoredInboundMessage,
} from '@parley/contract/inbound-message'
import { InboundMediaParams } from '@parley/contract/media'
import { List, pageQuery } from '@parley/contract/page'
import { Type } from 'typebox'
import { sendBytes } from '../../http/bytes.ts'
import { pageOf, readPage } from '../../http/page.ts'
import { bytesRoute, route } from '../../http/route.ts'
import { getInbound, listInbound, openInboundMedia } from './reading/inbound.ts'
import { markAsRead } from './sending/mark-as-read.ts'

export const inboundRoutes = [
  route({
    method: 'GET',
    path: '/v1/inbound_messages',
    scope: 'inbound:read',
    summary: 'List inbound messages',
    description:
      "Returns the messages that the workspace's numbers received, the latest first. They are in the order in which they " +
      'arrived here: a message that WhatsApp delivers late is among the latest, although its `received_at` is earlier.',
    tag: 'Inbound messages',
    query: Type.Object({ ...pageQuery, ...InboundMessageFilters.properties }, { additionalProperties: false }),
    reply: List(StoredInboundMessage),
    handle: async ({ db, caller, settings }, { query }) => {
      const page = readPage(query)
      const { rows, total } = await listInbound(db, caller.workspaceId, settings.publicUrl, query, page)
      return pageOf(page, rows, total, ({ message }) => message)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/inbound_messages/:id',
    scope: 'inbound:read',
    summary: 'Get an inbound message',
    tag: 'Inbound messages',
    params: InboundMessageParams,
    reply: StoredInboundMessage,
    handle: ({ db, caller, settings }, { params }) => getInbound(db, caller.workspaceId, settings.publicUrl, params.id),
  }),
  route({
    method: 'POST',
    path: '/v1/inbound_messages/:id/read',
    scope: 'messages:send',
    summary: 'Mark an inbound message as read',
    description:
      'The contact sees that the message was read and, if you ask for it, that you are typing. WhatsApp also marks earlier ' +
      'messages of the conversation. It costs no credits. The response is sent as soon as the request is stored. If ' +
      'WhatsApp rejects it later, for example because the message is older than 30 days, nothing else happens.',
    tag: 'Inbound messages',
    params: InboundMessageParams,
    body: MarkAsRead,
    isBodyOptional: true,
    reply: Type.Null(),
    status: 204,
    handle: async ({ db, clock, caller }, { params, body }) => {
      await markAsRead(db, clock, caller.workspaceId, params.id, body?.typing ?? false)
      return null
    },
  }),
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
