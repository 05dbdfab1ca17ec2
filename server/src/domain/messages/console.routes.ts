import {
  ListedMessage,
  ListedMessageQuery,
  MessageDetail,
  MessageFilters,
  ReplyWindow,
  ReplyWindowQuery,
  SentReply,
} from '@parley/contract/console/messages'
import { TemplateCounts, TemplateCountsQuery } from '@parley/contract/console/templates'
import { MessageId } from '@parley/contract/ids'
import type { Message } from '@parley/contract/message'
import { Type } from 'typebox'
import { sendBytes } from '../../http/bytes.ts'
import { barsRoute, listRoutes } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { Streamed, streamBytes } from '../../http/console/stream.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { listedMessages } from './reading/console-list.ts'
import { openInboundMedia } from './reading/inbound.ts'
import { messageBars } from './reading/message-bars.ts'
import { findReplyWindow } from './reading/reply-window.ts'
import { countTemplateMessages } from './reading/template-counts.ts'
import { readTimeline } from './reading/timeline.ts'
import { markAsReadFromConsole, sendAgain, sendFromConsole } from './sending/send-from-console.ts'

const OneMessage = Type.Object({ id: MessageId })

export const messageConsoleRoutes = (): ConsoleRoute[] => [
  ...listRoutes(
    {
      path: '/messages',
      who: 'messages:read',
      query: ListedMessageQuery,
      filters: MessageFilters,
      item: ListedMessage,
    },
    listedMessages,
  ),
  barsRoute({
    path: '/messages',
    who: 'messages:read',
    query: MessageFilters,
    bars: ({ db, clock, workspaceId }, query) => messageBars(db, clock.now(), workspaceId, query),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/messages/:id',
    who: 'messages:read',
    params: OneMessage,
    reply: MessageDetail,
    handle: ({ db, workspaceId, role }, { params }) => readTimeline(db, workspaceId, role, params.id),
  }),
  // Apart from the list of templates, so that it does not wait for the counts.
  workspaceRoute({
    method: 'GET',
    path: '/templates/counts',
    who: 'messages:read',
    mayLag: true,
    query: TemplateCountsQuery,
    reply: TemplateCounts,
    handle: ({ db, clock, workspaceId }, { query }) => countTemplateMessages(db, clock, workspaceId, query.ids),
  }),
  workspaceRoute({
    method: 'GET',
    path: '/reply_window',
    who: 'messages:read',
    query: ReplyWindowQuery,
    reply: ReplyWindow,
    async handle({ db, workspaceId }, { query }) {
      const sender = withoutPrefix('snd', query.sender) ?? refuse('not_found')
      const phone = query.phone.replace(/^\+/, '')
      return { window_expires_at: await findReplyWindow(db, workspaceId, sender, { phone }) }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/messages',
    who: 'messages:send',
    // `sendMessage` validates the body and reports every error.
    body: Type.Object({}, { additionalProperties: true }),
    reply: SentReply,
    status: 202,
    async handle(context, { body }) {
      const message = await sendFromConsole(context, body)
      await context.audit({ action: 'message.send', target: message.id, after: summaryOf(message) })
      return { id: message.id, credits: message.credits }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/messages/:id/again',
    who: 'messages:send',
    params: OneMessage,
    reply: SentReply,
    status: 202,
    async handle(context, { params }) {
      const message = await sendAgain(context, params.id)
      const after = { ...summaryOf(message), again: params.id }
      await context.audit({ action: 'message.send_again', target: message.id, after })
      return { id: message.id, credits: message.credits }
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/messages/:id/read',
    who: 'messages:send',
    params: OneMessage,
    async handle(context, { params }) {
      await markAsReadFromConsole(context, params.id)
      await context.audit({ action: 'message.read', target: params.id })
    },
  }),
  // The file of an inbound message: shown on its page, and downloaded.
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

/** Without the recipient: audit entries are never changed, so a person who is erased would stay in them. */
const summaryOf = ({ type, template_id, credits }: Message) => ({ type, template_id, credits })
