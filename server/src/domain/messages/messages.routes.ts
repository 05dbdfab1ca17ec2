import { MessageId } from '@parley/contract/ids'
import { Message, MessageFilters, MessageWithHistory } from '@parley/contract/message'
import { List, pageQuery } from '@parley/contract/page'
import { SendRequest } from '@parley/contract/send'
import { sendExamples } from '@parley/contract/send-examples'
import { Type } from 'typebox'
import { pageOf, readPage } from '../../http/page.ts'
import { route } from '../../http/route.ts'
import { getMessage, listMessages, markOf, toMessage } from './reading/messages.ts'
import { newAcceptance } from './sending/acceptance.ts'
import { sendMessage } from './sending/send.ts'

export const messageRoutes = [
  route({
    method: 'POST',
    path: '/v1/messages',
    scope: 'messages:send',
    summary: 'Send a message',
    description:
      'Accepts the message, debits its credits and returns immediately. The message is sent to WhatsApp afterwards. ' +
      'With an `Idempotency-Key` the message is sent once: a request with the same key and body gets the first response ' +
      'again, with `Idempotent-Replayed: true`, for at least 24 hours, also after the API key was rotated. After an error ' +
      'you can use the key again.',
    tag: 'Messages',
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(
        Type.String({
          pattern: '^[!-~]{1,255}$',
          examples: ['order-1001-shipped'],
          description: 'A unique key of your choice, of visible ASCII characters.',
        }),
      ),
    }),
    body: SendRequest,
    bodyExamples: sendExamples,
    checksBody: true,
    reply: Message,
    status: 202,
    errors: ['insufficient_credits', 'recipient_opted_out', 'idempotency_in_progress', 'idempotency_key_reused'],
    handle: async (context, { body }) => {
      const { db, caller, clock, requestId } = context
      const { traceparent } = context
      const deps = { db, caller, clock, requestId, traceparent, acceptance: context.shared(newAcceptance) }
      const { message, replayed } = await sendMessage(deps, body, context.header('idempotency-key'))
      if (replayed) context.setHeader('Idempotent-Replayed', 'true')
      else context.traceMessage(message.id)
      return message
    },
  }),
  route({
    method: 'GET',
    path: '/v1/messages',
    scope: 'messages:read',
    summary: 'List messages',
    description:
      'Returns the messages that this API key sent, newest first. Keys that it was rotated from or to count as the same key.',
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
    description:
      'Returns a message with its status history. A message that another API key sent is not found, unless one was rotated into the other.',
    tag: 'Messages',
    params: Type.Object({ id: MessageId }),
    reply: MessageWithHistory,
    handle: ({ db, caller }, { params }) => getMessage(db, caller, params.id),
  }),
]
