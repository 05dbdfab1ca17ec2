import { List } from '@parley/contract/page'
import { Webhook } from '@parley/contract/webhook'
import { unpagedList } from '../../http/page.ts'
import { route } from '../../http/route.ts'
import { listWebhooks } from './webhooks.ts'

export const webhookRoutes = [
  route({
    method: 'GET',
    path: '/v1/webhook',
    scope: 'webhooks:read',
    summary: 'List webhooks',
    description: 'Returns all webhooks. Create and change them, and rotate their secrets, in the console.',
    tag: 'Webhooks',
    reply: List(Webhook),
    handle: async ({ db, caller }) => unpagedList(await listWebhooks(db, caller.workspaceId)),
  }),
]
