import { Me } from '@parley/contract/key'
import { route } from '../../http/route.ts'

export const keyRoutes = [
  route({
    method: 'GET',
    path: '/v1/me',
    scope: 'none',
    summary: 'Get the current API key',
    description: 'Returns the workspace, the scopes and the rate limit of the key. Also useful as a health check.',
    tag: 'Identity',
    reply: Me,
    handle: ({ caller }) => ({
      account_id: caller.workspaceId,
      key: { id: caller.keyId, name: caller.keyName, scopes: caller.scopes.slice() },
      rate_limit_per_min: caller.rateLimitPerMin,
    }),
  }),
]
