import { type Static, Type } from 'typebox'
import { eventTypes } from '../events.ts'
import { nullable, Timestamp, WebhookId } from '../ids.ts'
import { notificationKinds, permissionOf } from './notifications.ts'
import type { Permission } from './permissions.ts'
import { WebhookStateName } from './webhooks.ts'

/** What the service tells people by email, or systems by an event. */
export const alertKinds = [...notificationKinds, 'template_status', 'sender_status'] as const
export type AlertKind = (typeof alertKinds)[number]

/** The event of an alert, if it has one. */
export const alertEvents = {
  webhook_failing: null,
  webhook_disabled: 'webhook.disabled',
  credits_low: 'credits.low',
  key_expiring: null,
  token_expiring: null,
  template_status: 'template.status_changed',
  sender_status: 'sender.status_changed',
} as const satisfies Record<AlertKind, (typeof eventTypes)[number] | null>

/** The permission to see an alert. */
export const alertPermission = (kind: AlertKind): Permission =>
  kind === 'template_status' ? 'templates:read' : kind === 'sender_status' ? 'senders:read' : permissionOf(kind)

export const Alert = Type.Object({
  kind: Type.Unsafe<AlertKind>(Type.String({ enum: [...alertKinds] })),
  /** Whether the person gets an email about this workspace. Null: no emails are sent about it, or not to their role. */
  email: nullable(Type.Boolean()),
  /** Null: there is no event. */
  event: nullable(Type.Unsafe<(typeof eventTypes)[number]>(Type.String({ enum: [...eventTypes] }))),
  /** The webhooks that are subscribed to the event. Null if the role may not see webhooks. */
  webhooks: nullable(Type.Array(Type.Object({ id: WebhookId, name: Type.String(), state: WebhookStateName }))),
  /** When it last happened. Without an email, as far as events are stored. */
  last_at: nullable(Timestamp),
  /** What it was about then. */
  last_subject: nullable(Type.String()),
})
export type Alert = Static<typeof Alert>

export const Alerts = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Alert),
  /** False if the installation sends no emails. */
  sends_mail: Type.Boolean(),
})
export type Alerts = Static<typeof Alerts>
