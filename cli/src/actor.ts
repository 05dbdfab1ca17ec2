import type { Actor } from '@parley/server/domain/audit/audit'

/** Who performs the actions of commands, in the audit log. */
export const commandLine: Actor = { personId: null, name: 'command line', address: null, userAgent: null }
