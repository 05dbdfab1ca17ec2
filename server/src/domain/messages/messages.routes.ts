import { MessageId } from '@parley/contract/ids'
import { Message, MessageFilters, MessageWithHistory } from '@parley/contract/message'
import { List, pageQuery } from '@parley/contract/page'
import { SendRequest } from '@parley/contract/send'
import { Type } from 'typebox'
import { pageOf, readPage } from '../../http/page.ts'
import { route } from '../../http/route.ts'
import { getMessage, listMessages, markOf, toMessage } from './reading/messages.ts'
import { sendMessage } from './sending/send.ts'

export const messageRoutes = [
  route({
    method: 'POST',
    path: '/v1/messages',
    scope: 'messages:send',
    summary: 'Send a message',
    description:
      'Takes the message, spends its credits and answers at once; the network is called after that. ' +
      'With an `Idempotency-Key` the whole send happens once: the same key and body get the first answer again, with ' +
      '`Idempotent-Replayed: true`, for at least 24 hours. A request that was refused may be repeated under its key.',
    tag: 'Messages',
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(
        Type.String({ pattern: '^[!-~]{1,255}$', description: 'Your own name for this send; visible ASCII.' }),
      ),
    }),
    body: SendRequest,
    checksBody: true,
    reply: Message,
    status: 202,
    errors: ['insufficient_credits', 'idempotency_in_progress', 'idempotency_key_reused'],
    handle: async (context, { body }) => {
      const { message, replayed } = await sendMessage(context, body, context.header('idempotency-key'))
      if (replayed) context.setHeader('Idempotent-Replayed', 'true')
      return message
    },
  }),
  route({
    method: 'GET',
    path: '/v1/messages',
    scope: 'messages:read',
    summary: 'List messages',
    description: 'Those that this key sent, the newest first.',
    tag: 'Messages',
    query: Type.Object({ ...pageQuery, ...MessageFilters.properties }, { additionalProperties: false }),
    reply: List(Message),
    handle: async ({ db, caller }, { query }) => {
      const page = readPage(query)
      const { rows, total } = await listMessages(db, caller, query, page)
      return pageOf(page, rows, total, markOf, toMessage)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/messages/:id',
    scope: 'messages:read',
    summary: 'Get a message',
    description: 'With every status it has had. A message that another key sent is not found.',
    tag: 'Messages',
    params: Type.Object({ id: MessageId }),
    reply: MessageWithHistory,
    handle: ({ db, caller }, { params }) => getMessage(db, caller, params.id),
  }),
]
