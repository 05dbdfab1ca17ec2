import { type Static, Type } from 'typebox'
import { described, nullable, SenderId, Timestamp, WebhookId } from './ids.ts'

/** In which order the events of a conversation are sent. */
export const orderings = ['none', 'conversation'] as const
export type Ordering = (typeof orderings)[number]

/** A webhook endpoint in the API. The signing secret is shown only once, when the endpoint is created. */
export const Webhook = Type.Object(
  {
    id: described(WebhookId, 'The ID of the webhook.'),
    object: Type.Literal('webhook', { description: 'The object type.' }),
    name: Type.String({ description: 'The name of the webhook in the console.' }),
    url: Type.String({ description: 'The URL that events are sent to with POST.' }),
    secret_hint: Type.String({
      description: 'The first and last four characters of the signing secret.',
      examples: ['whsec_MfKQ...aw0='],
    }),
    events: Type.Array(Type.String(), { description: 'The event types that the webhook is subscribed to.' }),
    senders: nullable(
      Type.Array(SenderId),
      'The webhook gets only events of these senders, and events that have no sender. Null: events of all senders.',
    ),
    ordering: Type.Unsafe<Ordering>(
      Type.String({
        enum: [...orderings],
        description:
          '`conversation`: the events of one sender and one contact are sent one after another, in the order in which they occurred. While one is retried, later ones wait. `none`: events do not wait for each other.',
      }),
    ),
    headers: Type.Array(Type.String(), {
      description: 'The names of the headers that were added to the requests. Their values are never shown.',
      examples: [['authorization']],
    }),
    enabled: Type.Boolean({ description: 'Whether events are sent. Events for a disabled webhook are held.' }),
    disabled_reason: nullable(Type.String(), 'Why the webhook is disabled. Null if it is enabled.'),
    last_success_at: nullable(Timestamp, 'When an event was last delivered successfully.'),
  },
  {
    $id: 'Webhook',
    description: 'A webhook: the URL that events are sent to, and its settings.',
    examples: [
      {
        id: 'whk_1d2c3b4a-5968-4776-8554-433221100fed',
        object: 'webhook',
        name: 'Order service',
        url: 'https://example.com/hooks/parley',
        secret_hint: 'whsec_MfKQ...aw0=',
        events: ['message.received', 'message.failed'],
        senders: null,
        ordering: 'conversation',
        headers: ['authorization'],
        enabled: true,
        disabled_reason: null,
        last_success_at: '2026-11-15T09:30:00.000Z',
      },
    ],
  },
)
export type Webhook = Static<typeof Webhook>
