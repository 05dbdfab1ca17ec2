import { MessageId } from '@parley/contract/ids'
import { Message, MessageFilters, MessageWithHistory } from '@parley/contract/message'
import {
  DryRun,
  dryRunQuery,
  MessageBatch,
  MessageBatchFrame,
  MessageBatchResult,
} from '@parley/contract/message-batch'
import { List, pageQuery } from '@parley/contract/page'
import { SendRequest } from '@parley/contract/send'
import { sendExamples } from '@parley/contract/send-examples'
import { Type } from 'typebox'
import { errorBody } from '../../http/errors.ts'
import { pageOf, readPage } from '../../http/page.ts'
import { type Context, route } from '../../http/route.ts'
import { toJsonFor } from '../../http/to-json.ts'
import { checkFor } from '../../http/validate.ts'
import { Refusal, refuseInvalid } from '../../lib/refuse.ts'
import { getMessage, listMessages, toMessage } from './reading/messages.ts'
import { newAcceptance } from './sending/acceptance.ts'
import { sendMessage } from './sending/send.ts'
import { checkBatch, sendBatch } from './sending/send-batch.ts'

const IdempotencyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: '^[!-~]{1,255}$',
      examples: ['order-1001-shipped'],
      description: 'A unique key of your choice, of visible ASCII characters.',
    }),
  ),
})

const messageJson = toJsonFor(Message)
const checkFrame = checkFor('body', MessageBatchFrame)

const depsOf = (context: Context) => {
  const { db, caller, clock, requestId, traceparent } = context
  return { db, caller, clock, requestId, traceparent, acceptance: context.shared(newAcceptance) }
}

/** Only a message of a batch has it as a member. */
function refuseOwnKey(body: unknown): void {
  if (typeof body === 'object' && body !== null && 'idempotency_key' in body) {
    const message = 'Unknown field. Send the key as the header Idempotency-Key.'
    refuseInvalid([{ param: 'idempotency_key', code: 'unknown', message }])
  }
}

const listOf = (data: MessageBatchResult['data']): MessageBatchResult => {
  const rejected = data.filter((each) => 'error' in each).length
  return { object: 'list', data, accepted: data.length - rejected, rejected }
}

export const messageRoutes = [
  route({
    method: 'POST',
    path: '/v1/messages',
    scope: 'messages:send',
    summary: 'Send a message',
    description:
      'Accepts the message, debits its credits and returns immediately. The message is sent to WhatsApp afterwards. ' +
      'With an `Idempotency-Key` the message is sent once: a request with the same key and body gets the first response ' +
      'again, with `Idempotent-Replayed: true`. After an error you can use the key again.',
    tag: 'Messages',
    headers: IdempotencyHeader,
    query: dryRunQuery,
    body: SendRequest,
    bodyExamples: sendExamples,
    checksBody: true,
    reply: Type.Unsafe<Message | DryRun>(Message),
    toJson: (reply: Message | DryRun) => ('dry_run' in reply ? JSON.stringify(reply) : messageJson(reply)),
    status: 202,
    otherReply: { status: 200, description: 'With `dry_run=true`.', reply: DryRun },
    errors: ['insufficient_credits', 'recipient_opted_out', 'idempotency_in_progress', 'idempotency_key_reused'],
    handle: async (context, { body, query }) => {
      const deps = depsOf(context)
      if (query.dry_run === 'true') {
        refuseOwnKey(body)
        const [checked] = await checkBatch(deps, [body], context.header('idempotency-key'))
        if (checked instanceof Refusal) throw checked
        context.setStatus(200)
        return { dry_run: true as const, credits: checked?.credits ?? 0 }
      }
      const { message, replayed } = await sendMessage(deps, body, context.header('idempotency-key'))
      if (replayed) context.setHeader('Idempotent-Replayed', 'true')
      else context.traceMessage(message.id)
      return message
    },
  }),
  route({
    method: 'POST',
    path: '/v1/messages/batch',
    scope: 'messages:send',
    summary: 'Send a batch of messages',
    description:
      'Accepts up to 500 messages, and costs one request of the rate limit. Each message is checked, charged and stored ' +
      'separately, in the order given. `data` has the message, or the error that it would get alone. The body can be 2 MiB. ' +
      'With an `Idempotency-Key` the whole batch is sent once: after a lost response, send the same request again. A message ' +
      'may also have an `idempotency_key` of its own.',
    tag: 'Messages',
    headers: IdempotencyHeader,
    query: dryRunQuery,
    body: MessageBatch,
    checksBody: true,
    receivesBatch: true,
    reply: MessageBatchResult,
    toJson: (reply: MessageBatchResult) => JSON.stringify(reply),
    errors: ['idempotency_key_reused'],
    handle: async (context, { body, query }) => {
      checkFrame(body)
      const { requestId, settings } = context
      const deps = depsOf(context)
      const rejected = (index: number, refusal: Refusal) => ({
        index,
        status: refusal.status,
        error: errorBody(refusal, requestId, settings.publicUrl).error,
      })
      if (query.dry_run === 'true') {
        const checked = await checkBatch(deps, body.messages, context.header('idempotency-key'))
        const credits = checked.reduce((sum, each) => sum + (each instanceof Refusal ? 0 : each.credits), 0)
        const data = checked.map((each, index) =>
          each instanceof Refusal ? rejected(index, each) : { index, status: 200 as const, ...each },
        )
        return { ...listOf(data), dry_run: true, credits }
      }
      const results = await sendBatch(deps, body.messages, context.header('idempotency-key'))
      const accepted = results.filter((each) => each.kind === 'accepted')
      if (accepted.length > 0 && accepted.every(({ replayed }) => replayed)) {
        context.setHeader('Idempotent-Replayed', 'true')
      }
      return listOf(
        results.map((each, index) =>
          each.kind === 'rejected'
            ? rejected(index, each.refusal)
            : { index, status: 202 as const, message: each.message },
        ),
      )
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
      return pageOf(page, rows, total, toMessage)
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
