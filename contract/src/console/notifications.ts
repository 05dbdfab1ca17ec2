/** What people are notified of by email, and who gets it. */
import { type Static, Type } from 'typebox'
import { can, type Permission, type Role, roles } from './permissions.ts'

export const notificationKinds = [
  'webhook_failing',
  'webhook_disabled',
  'credits_low',
  'key_expiring',
  'token_expiring',
] as const
export type NotificationKind = (typeof notificationKinds)[number]

interface Audience {
  /** Only roles that have this permission may get it: it says what they see in the console. */
  permission: Permission
  /** The roles that get it until they choose otherwise. */
  byDefault: readonly Role[]
  /** Operators may get it too, about every workspace, and do until they choose otherwise. */
  operators: boolean
}

const audiences: Readonly<Record<NotificationKind, Audience>> = {
  webhook_failing: { permission: 'webhooks:read', byDefault: ['admin', 'developer'], operators: false },
  webhook_disabled: { permission: 'webhooks:read', byDefault: ['admin', 'developer'], operators: false },
  credits_low: { permission: 'credits:read', byDefault: ['admin'], operators: false },
  key_expiring: { permission: 'keys:read', byDefault: ['admin', 'developer'], operators: false },
  // Operators replace access tokens.
  token_expiring: { permission: 'network:sync', byDefault: ['admin'], operators: true },
}

/** The roles that may get a notification, the roles that get it by default, and whether operators get it. */
export function audienceOf(kind: NotificationKind): { roles: Role[]; byDefault: readonly Role[]; operators: boolean } {
  const { permission, byDefault, operators } = audiences[kind]
  return { roles: roles.filter((role) => can(role, permission)), byDefault, operators }
}

/** Who may see what it is about. */
export const permissionOf = (kind: NotificationKind): Permission => audiences[kind].permission

const KindName = Type.Unsafe<NotificationKind>(Type.String({ enum: [...notificationKinds] }))

export const MailChoice = Type.Object({ kind: KindName, wanted: Type.Boolean() }, { additionalProperties: false })
export type MailChoice = Static<typeof MailChoice>

export const MailChoices = Type.Object({
  /** False if the installation sends no emails. */
  sends_mail: Type.Boolean(),
  /** The notifications that the person may get. */
  choices: Type.Array(MailChoice),
})
export type MailChoices = Static<typeof MailChoices>
