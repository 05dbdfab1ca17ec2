import { Me } from '@parley/contract/key'
import { route } from '../../http/route.ts'

export const keyRoutes = [
  route({
    method: 'GET',
    path: '/v1/me',
    scope: 'none',
    summary: 'Who am I?',
    description: 'The workspace the key belongs to, what the key may do, and its budget. Suits health checks.',
    tag: 'Identity',
    reply: Me,
    handle: ({ caller }) => ({
      account_id: caller.workspaceId,
      key: { id: caller.keyId, name: caller.keyName, scopes: caller.scopes.slice() },
      rate_limit_per_min: caller.budget,
    }),
  }),
]
