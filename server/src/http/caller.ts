import { refuse } from '../lib/refuse.ts'
import type { Caller } from './access-check.ts'
import type { Route } from './route.ts'

/** The caller of a public route; has access to no workspace. */
export const anonymous: Caller = {
  workspaceId: '',
  keyId: '',
  keyName: '',
  systemId: '',
  systemKeyIds: [],
  scopes: [],
  rateLimitPerMin: 0,
  isInspected: false,
}

export function requireScope(caller: Caller | null, scope: Route['scope']): void {
  if (scope === 'none' || scope === 'public' || caller?.scopes.includes(scope)) return
  refuse('insufficient_scope', {
    message: `This key lacks the scope '${scope}'.`,
    details: { required_scope: scope, granted_scopes: [...(caller?.scopes ?? [])] },
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}
