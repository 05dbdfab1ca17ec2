import type { Webhook } from '@parley/contract/webhook'
import { keyOptions, readService } from '../by-key.ts'
import type { Call, Command } from '../command.ts'
import { formatTime } from '../format.ts'
import { runOnServer } from '../help.ts'
import { program } from '../program.ts'
import { jsonList, table } from '../table.ts'
import { readWorkspaceFilter, workspaceFilter } from '../workspace-option.ts'

export const commands: readonly Command[] = [
  {
    name: 'webhook list',
    details: 'An API key lists those of its own workspace, and needs the scope webhooks:read.',
    options: { workspace: workspaceFilter, ...keyOptions },
    examples: ['webhook list --workspace "Acme"', 'webhook list --url https://parley.example.com'],
    async run(call) {
      const webhooks = await readWebhooks(call)
      const rows = webhooks.map(({ webhook }) => [
        webhook.id,
        webhook.name,
        webhook.url,
        webhook.enabled ? 'enabled' : 'disabled',
        webhook.secret_hint,
        webhook.last_success_at ? formatTime(webhook.last_success_at) : 'never',
        webhook.disabled_reason ?? webhook.events.join(' '),
      ])
      const headings = ['ID', 'NAME', 'URL', 'STATE', 'SECRET', 'LAST SUCCESS', 'EVENTS OR DISABLED REASON']
      const create = 'webhook create --workspace ID --name NAME --url URL --event EVENT'
      const how = program.hasDatabase ? `Create one with: ./parley ${create}` : runOnServer(create.split(' '))
      const lines = table(headings, rows, `No webhooks yet. ${how}`)
      return { lines, json: jsonList(webhooks.map((each) => ({ ...each.webhook, account_id: each.workspaceId }))) }
    },
  },
]

async function readWebhooks(call: Call): Promise<{ webhook: Webhook; workspaceId: string }[]> {
  const service = readService(call)
  if (service) {
    const client = (await import('../key-source.ts')).newClient(service)
    const [webhooks, { account_id: workspaceId }] = await Promise.all([client.webhooks.list().all(), client.me()])
    return webhooks.map((webhook) => ({ webhook, workspaceId }))
  }
  const { listAllWebhooks } = await import('@parley/server/domain/webhooks/webhooks')
  const workspace = await readWorkspaceFilter(call)
  const all = await listAllWebhooks(await call.db())
  return all.filter((each) => workspace === undefined || each.workspaceId === workspace.id)
}
