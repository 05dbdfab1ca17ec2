import { type Static, Type } from 'typebox'
import { described, nullable, Timestamp, WebhookId } from './ids.ts'

/** A webhook endpoint in the API. The signing secret is shown only once, when the endpoint is created. */
export const Webhook = Type.Object(
  {
    id: described(WebhookId, 'The ID of the endpoint.'),
    object: Type.Literal('webhook', { description: 'The object type.' }),
    name: Type.String({ description: 'The name of the endpoint in the console.' }),
    url: Type.String({ description: 'The URL that events are sent to with POST.' }),
    secret_hint: Type.String({
      description: 'The first and last four characters of the signing secret.',
      examples: ['whsec_MfKQ...aw0='],
    }),
    events: Type.Array(Type.String(), { description: 'The event types that the endpoint is subscribed to.' }),
    enabled: Type.Boolean({ description: 'Whether events are sent. Events for a disabled endpoint are held.' }),
    disabled_reason: nullable(Type.String(), 'Why the endpoint is disabled. Null if it is enabled.'),
    last_success_at: nullable(Timestamp, 'When an event was last delivered successfully.'),
  },
  { $id: 'Webhook', description: 'A webhook endpoint.' },
)
export type Webhook = Static<typeof Webhook>
