/** What a person may be in a workspace. An operator, who runs the installation, is something else: no role, and none needed. */
export const roles = ['admin', 'developer', 'member'] as const
export type Role = (typeof roles)[number]

/**
 * Who may do what in a workspace. The service enforces this table on every route of the console; the console itself only
 * hides what would be refused.
 */
const holders = {
  'overview:read': ['admin', 'developer', 'member'],
  'messages:read': ['admin', 'developer', 'member'],
  'messages:send': ['admin', 'developer'],
  'templates:read': ['admin', 'developer', 'member'],
  'senders:read': ['admin', 'developer', 'member'],
  'network:sync': ['admin', 'developer'],
  'forms:read': ['admin', 'developer', 'member'],
  'orders:read': ['admin', 'developer', 'member'],
  'orders:change': ['admin', 'developer', 'member'],
  'keys:read': ['admin', 'developer'],
  'keys:manage': ['admin'],
  'webhooks:read': ['admin', 'developer'],
  'webhooks:test': ['admin', 'developer'],
  'webhooks:manage': ['admin'],
  'deliveries:read': ['admin', 'developer'],
  'deliveries:retry': ['admin', 'developer'],
  'requests:read': ['admin', 'developer'],
  'credits:read': ['admin', 'developer'],
  'team:read': ['admin', 'developer', 'member'],
  'team:manage': ['admin'],
  'audit:read': ['admin'],
  'settings:manage': ['admin'],
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof holders

export const permissions = Object.keys(holders) as Permission[]

export function can(role: Role, permission: Permission): boolean {
  return (holders[permission] as readonly Role[]).includes(role)
}
