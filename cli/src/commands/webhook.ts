import { eventTypes } from '@parley/contract/events'
import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '@parley/server/db/db'
import { listDeliveries } from '@parley/server/domain/deliveries/reading/newest'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  listAllWebhooks,
  rotateWebhook,
} from '@parley/server/domain/webhooks/webhooks'
import { requireWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { StartupError } from '@parley/server/lib/refuse'
import { type Command, UsageError } from '../command.ts'
import { readList } from '../read.ts'
import { jsonList, table } from '../table.ts'
import { testCommand } from './webhook-test.ts'

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
      const input = {
        workspaceId: option('workspace') ?? '',
        name: option('name') ?? '',
        url: option('url') ?? '',
        events: readList(options('event')),
      }
      const made = await createWebhook(await db(), clock, config.secretKeys(), config.targetRules, input)
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
    name: 'webhook change',
    summary: 'Change an endpoint’s name, address or events; what is not named stays',
    args: ['ID'],
    options: {
      name: { value: 'N', help: 'which system it belongs to' },
      url: { value: 'U', help: 'where events are posted from the next attempt on' },
      event: { value: 'E', repeated: true, help: 'all the events it is to get' },
    },
    async run({ db, config, option, options, args: [id = ''] }) {
      const [name, url, events] = [option('name'), option('url'), readList(options('event'))]
      const input = { ...(name && { name }), ...(url && { url }), ...(events.length > 0 && { events }) }
      if (Object.keys(input).length === 0) throw new UsageError('Name what is to change: --name, --url or --event.')
      const webhook = await changeWebhook(await db(), config.targetRules, id, input)
      return { lines: [`Endpoint ${webhook.id} is changed.`], json: webhook }
    },
  },
  {
    name: 'webhook delete',
    summary: 'Delete an endpoint; what waits for it is dropped, what it was sent stays on record',
    args: ['ID'],
    options: { yes: { help: 'even if events wait for it, which are then lost to it' } },
    async run({ db, clock, flag, args: [id = ''] }) {
      const dropped = await countOpen(await db(), id)
      if (dropped > 0 && !flag('yes')) {
        throw new StartupError(`${dropped} events wait for ${id} and would be lost to it. If that is meant, add --yes.`)
      }
      await deleteWebhook(await db(), clock, id)
      return { lines: [`Endpoint ${id} is deleted.`], json: { id, object: 'webhook', deleted: true, dropped } }
    },
  },
  testCommand,
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

async function countOpen(db: Db, webhookId: string): Promise<number> {
  const open = (['pending', 'retrying', 'held'] as const).map((state) =>
    listDeliveries(db, { webhookId, state, limit: 10_000 }),
  )
  return (await Promise.all(open)).flat().length
}

const withSecret = (line: string, { webhook, secret }: { webhook: Webhook; secret: string }) => ({
  lines: [`${line} Its signing secret is shown this once:`, '', `  ${secret}`],
  json: { ...webhook, secret },
})
