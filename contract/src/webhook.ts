import { type Static, Type } from 'typebox'
import { nullable, Timestamp, WebhookId } from './ids.ts'

/** A webhook endpoint as the API shows it. The secret itself is shown once, to the person who created it. */
export const Webhook = Type.Object(
  {
    id: WebhookId,
    object: Type.Literal('webhook'),
    name: Type.String(),
    url: Type.String({ description: 'Where events are posted.' }),
    secret_hint: Type.String({
      description: 'The first and last four characters of the signing secret.',
      examples: ['whsec_MfKQ...aw0='],
    }),
    events: Type.Array(Type.String(), { description: 'The event types it listens to.' }),
    enabled: Type.Boolean(),
    disabled_reason: nullable(Type.String()),
    last_success_at: nullable(Timestamp),
  },
  { $id: 'Webhook' },
)
export type Webhook = Static<typeof Webhook>
