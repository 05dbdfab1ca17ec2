import { MessageId } from '@parley/contract/ids'
import { Type } from 'typebox'
import { sendBytes } from '../../http/bytes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed, streamBytes } from '../../http/console/stream.ts'
import { openInboundMedia } from './reading/inbound.ts'

const OneMessage = Type.Object({ id: MessageId })

/** The file of an inbound message: shown on its page, and downloaded. */
export const mediaConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/messages/:id/media',
    who: 'messages:read',
    unaudited: 'shown as a part of the message; a player requests a video in many parts',
    params: OneMessage,
    reply: Streamed,
    async handle(context, { params }) {
      const { db, clock, workspaceId } = context
      const file = await openInboundMedia(db, clock, workspaceId, params.id)
      const parts = { range: context.header('range'), ifRange: context.header('if-range') }
      return streamBytes(context, sendBytes(file, parts))
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/messages/:id/file',
    who: 'messages:read',
    audited: true,
    params: OneMessage,
    reply: Streamed,
    async handle(context, { params }) {
      const { db, clock, workspaceId } = context
      const file = await openInboundMedia(db, clock, workspaceId, params.id)
      await context.audit({ action: 'message.download', target: params.id })
      return streamBytes(context, sendBytes(file, { range: undefined, ifRange: undefined }))
    },
  }),
]
