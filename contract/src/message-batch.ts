/** Several messages in one request, and requests that only check. */
import { type Static, Type } from 'typebox'
import { ErrorReply } from './errors.ts'
import { Message } from './message.ts'
import { examplesOf } from './page.ts'
import { SendRequest } from './send.ts'

export const batchMax = 500

const strict = { additionalProperties: false } as const

/** The body of `POST /v1/messages/batch`. Each message is validated by itself, so that one that is invalid rejects only itself. */
export const MessageBatch = Type.Object(
  {
    messages: Type.Array(
      Type.Object(
        {
          ...SendRequest.properties,
          idempotency_key: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 255,
              description: 'The `Idempotency-Key` of this message: it is sent once, in whichever request.',
            }),
          ),
        },
        strict,
      ),
      {
        minItems: 1,
        maxItems: batchMax,
        description: 'The messages, each as in `POST /v1/messages`. Credits are spent in this order.',
      },
    ),
  },
  {
    ...strict,
    description: 'Messages to send.',
    examples: [
      {
        messages: [
          { to: '491701234567', type: 'text', text: { body: 'Your order has shipped.' }, reference: 'order 1001' },
          { to: '16505550123', type: 'text', text: { body: 'Your order has shipped.' }, idempotency_key: 'order-1002' },
        ],
      },
    ],
  },
)

/** What `MessageBatch` guarantees before each message is checked. */
export const MessageBatchFrame = Type.Object(
  { messages: Type.Array(Type.Unknown(), { minItems: 1, maxItems: batchMax }) },
  strict,
)

const index = Type.Integer({ minimum: 0, description: 'The place of the message in the request, from 0.' })

export const MessageBatchResult = Type.Object(
  {
    object: Type.Literal('list', { description: 'The object type.' }),
    data: Type.Array(
      Type.Union([
        Type.Object({
          index,
          status: Type.Literal(202, { description: 'The message was accepted.' }),
          message: Message,
        }),
        Type.Object({
          index,
          status: Type.Integer({ description: 'The status that the message alone would get.' }),
          error: ErrorReply.properties.error,
        }),
        Type.Object({
          index,
          status: Type.Literal(200, { description: 'With `dry_run`: the message would be accepted.' }),
          credits: Type.Integer({ minimum: 0, description: 'The credits that it would cost.' }),
        }),
      ]),
      { description: 'One result for each message, in the order of the request.' },
    ),
    accepted: Type.Integer({ minimum: 0, description: 'How many messages were accepted.' }),
    rejected: Type.Integer({ minimum: 0, description: 'How many messages were rejected.' }),
    dry_run: Type.Optional(Type.Boolean({ description: 'True if nothing was stored, spent or sent.' })),
    credits: Type.Optional(
      Type.Integer({ minimum: 0, description: 'With `dry_run`: the credits that the messages would cost.' }),
    ),
  },
  {
    $id: 'MessageBatchResult',
    description: 'The results of the messages of a batch.',
    examples: [
      {
        object: 'list',
        data: [{ index: 0, status: 202, message: examplesOf(Message)[0] }],
        accepted: 1,
        rejected: 0,
      },
    ],
  },
)

export const DryRun = Type.Object(
  {
    dry_run: Type.Literal(true, { description: 'Nothing was stored, spent or sent.' }),
    credits: Type.Integer({ minimum: 0, description: 'The credits that the message would cost.' }),
  },
  {
    description: 'The result of a request that only checks.',
    examples: [{ dry_run: true, credits: 1 }],
  },
)

export const dryRunQuery = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'With `true`, everything is checked and nothing is stored, spent or sent. Returns 200.',
      }),
    ),
  },
  strict,
)

export type MessageBatch = Static<typeof MessageBatch>
export type MessageBatchResult = Static<typeof MessageBatchResult>
export type DryRun = Static<typeof DryRun>
