/** The roles in a workspace, the highest first. Being an operator of the installation is independent of them. */
export const roles = ['admin', 'developer', 'member'] as const
export type Role = (typeof roles)[number]

/**
 * The roles that have each permission. The server enforces this table on every route of the console; the console only
 * hides what would be refused.
 */
const rolesByPermission = {
  'overview:read': ['admin', 'developer', 'member'],
  'messages:read': ['admin', 'developer', 'member'],
  'messages:send': ['admin', 'developer'],
  'templates:read': ['admin', 'developer', 'member'],
  'templates:manage': ['admin', 'developer'],
  'senders:read': ['admin', 'developer', 'member'],
  'senders:manage': ['admin'],
  'network:sync': ['admin', 'developer'],
  'forms:read': ['admin', 'developer', 'member'],
  'orders:read': ['admin', 'developer', 'member'],
  'orders:change': ['admin', 'developer', 'member'],
  'keys:read': ['admin', 'developer'],
  'keys:manage': ['admin'],
  'webhooks:read': ['admin', 'developer'],
  'webhooks:test': ['admin', 'developer'],
  'webhooks:enable': ['admin', 'developer'],
  'webhooks:manage': ['admin'],
  'deliveries:read': ['admin', 'developer'],
  'deliveries:retry': ['admin', 'developer'],
  'requests:read': ['admin', 'developer'],
  'credits:read': ['admin', 'developer'],
  'team:read': ['admin', 'developer', 'member'],
  'team:manage': ['admin'],
  'audit:read': ['admin'],
  'settings:manage': ['admin'],
  'contacts:manage': ['admin'],
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof rolesByPermission

export function can(role: Role, permission: Permission): boolean {
  return (rolesByPermission[permission] as readonly Role[]).includes(role)
}
