import { eventTypes } from '@parley/contract/events'
import type { Webhook } from '@parley/contract/webhook'
import type { Config } from '@parley/server/config'
import { disableWebhook, enableWebhook } from '@parley/server/domain/deliveries/holding'
import { createWebhook, listAllWebhooks, rotateWebhook } from '@parley/server/domain/webhooks/webhooks'
import { requireWorkspace } from '@parley/server/domain/workspaces/workspaces'
import type { Command } from '../command.ts'
import { jsonList, table } from '../table.ts'

export const webhookCommands: readonly Command[] = [
  {
    name: 'webhook create',
    summary: 'Make an endpoint that events are posted to; its signing secret is shown once',
    options: {
      workspace: { value: 'ID', required: true, help: 'whose events it gets' },
      name: { value: 'N', required: true, help: 'which system it belongs to' },
      url: { value: 'U', required: true, help: 'where events are posted' },
      event: { value: 'E', required: true, repeated: true, help: `one of ${eventTypes.join(', ')}` },
    },
    async run({ db, clock, config, option, options }) {
      const wish = {
        workspaceId: option('workspace') ?? '',
        name: option('name') ?? '',
        url: option('url') ?? '',
        events: options('event').flatMap((each) => each.split(',')),
      }
      const made = await createWebhook(await db(), clock, config.secretKeys(), rulesOf(config), wish)
      return withSecret(`Endpoint ${made.webhook.id} made.`, made)
    },
  },
  {
    name: 'webhook list',
    summary: 'Show the endpoints, the newest first',
    options: { workspace: { value: 'ID', help: 'only this workspace’s' } },
    async run({ db, option }) {
      const workspaceId = option('workspace')
      if (workspaceId) await requireWorkspace(await db(), workspaceId)
      const all = await listAllWebhooks(await db())
      const shown = all.filter((each) => workspaceId === undefined || each.workspaceId === workspaceId)
      const rows = shown.map(({ webhook }) => [
        webhook.id,
        webhook.name,
        webhook.url,
        webhook.enabled ? 'enabled' : 'disabled',
        webhook.secret_hint,
        webhook.last_success_at ?? 'never',
        webhook.disabled_reason ?? webhook.events.join(' '),
      ])
      const headings = ['ID', 'NAME', 'URL', 'STATE', 'SECRET', 'LAST SUCCESS', 'EVENTS, OR WHY IT IS DISABLED']
      const lines = table(headings, rows, 'There is no endpoint yet.')
      return { lines, json: jsonList(shown.map((each) => ({ ...each.webhook, account_id: each.workspaceId }))) }
    },
  },
  {
    name: 'webhook rotate',
    summary: 'Give an endpoint a new signing secret; the old one is dead at once',
    args: ['ID'],
    async run({ db, config, args: [id = ''] }) {
      const made = await rotateWebhook(await db(), config.secretKeys(), id)
      return withSecret(`Endpoint ${made.webhook.id} has a new secret.`, made)
    },
  },
  {
    name: 'webhook enable',
    summary: 'Let an endpoint have its events again, and all that was held for it',
    args: ['ID'],
    async run({ db, clock, args: [id = ''] }) {
      const webhook = await enableWebhook(await db(), clock, id)
      return { lines: [`Endpoint ${webhook.id} is enabled; what was held for it is due now.`], json: webhook }
    },
  },
  {
    name: 'webhook disable',
    summary: 'Hold an endpoint’s events until it is enabled; none is lost',
    args: ['ID'],
    options: { reason: { value: 'R', required: true, help: 'why, for whoever wonders' } },
    async run({ db, option, args: [id = ''] }) {
      const webhook = await disableWebhook(await db(), id, option('reason') ?? '')
      return { lines: [`Endpoint ${webhook.id} is disabled; its events are held.`], json: webhook }
    },
  },
]

const rulesOf = ({ webhookAllowHttp, webhookAllowRanges }: Config) => ({
  allowHttp: webhookAllowHttp,
  allowRanges: webhookAllowRanges,
})

const withSecret = (line: string, { webhook, secret }: { webhook: Webhook; secret: string }) => ({
  lines: [`${line} Its signing secret is shown this once:`, '', `  ${secret}`],
  json: { ...webhook, secret },
})
