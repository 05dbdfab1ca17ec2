import { type Static, Type } from 'typebox'
import { Timestamp, WebhookId } from './ids.ts'

/** A webhook endpoint in the API. The signing secret is shown only once, when the endpoint is created. */
export const Webhook = Type.Object(
  {
    id: WebhookId,
    object: Type.Literal('webhook'),
    name: Type.String(),
    url: Type.String({ description: 'The URL that events are sent to with POST.' }),
    secret_hint: Type.String({
      description: 'The first and last four characters of the signing secret.',
      examples: ['whsec_MfKQ...aw0='],
    }),
    events: Type.Array(Type.String(), { description: 'The event types that the endpoint is subscribed to.' }),
    enabled: Type.Boolean({ description: 'Whether events are sent. Events for a disabled endpoint are held.' }),
    disabled_reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the endpoint is disabled. Null if it is enabled.',
    }),
    last_success_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When an event was last delivered successfully.',
    }),
  },
  { $id: 'Webhook', description: 'A webhook endpoint.' },
)
export type Webhook = Static<typeof Webhook>
