import { eventTypes } from '@parley/contract/events'
import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '@parley/server/db/db'
import { listDeliveries } from '@parley/server/domain/deliveries/reading/newest'
import {
  activateSecret,
  cancelRotation,
  changeWebhook,
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  listAllWebhooks,
  rotateWebhook,
  stageRotation,
} from '@parley/server/domain/webhooks/webhooks'
import { StartupError } from '@parley/server/lib/refuse'
import { type Command, UsageError } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { readList } from '../read-options.ts'
import { jsonList, table } from '../table.ts'
import { readWorkspace, readWorkspaceFilter, workspaceFilter, workspaceOption } from '../workspace-option.ts'
import { testCommand } from './webhook-test.ts'

export const webhookCommands: readonly Command[] = [
  {
    name: 'webhook create',
    summary: 'Create a webhook that receives events',
    details: 'The signing secret is shown only once.',
    options: {
      workspace: workspaceOption('Workspace whose events it receives'),
      name: { value: 'NAME', required: true, help: 'Name of the webhook, such as the system behind it' },
      url: { value: 'URL', required: true, help: 'URL that events are sent to' },
      event: { value: 'EVENT', required: true, repeated: true, help: `Event type: ${eventTypes.join(', ')}` },
    },
    examples: ['webhook create --workspace ID --name "CRM" --url https://crm.example/hooks --event message.received'],
    async run(call) {
      const { db, clock, config, option, options } = call
      const input = {
        workspaceId: (await readWorkspace(call)).id,
        name: option('name') ?? '',
        url: option('url') ?? '',
        events: readList(options('event')),
      }
      const created = await createWebhook(await db(), clock, config.secretKeys(), config.targetRules, input)
      return withSecret(`Created webhook ${created.webhook.name} (${created.webhook.id}).`, created)
    },
  },
  {
    name: 'webhook list',
    summary: 'List webhooks, newest first',
    options: { workspace: workspaceFilter },
    async run(call) {
      const workspace = await readWorkspaceFilter(call)
      const all = await listAllWebhooks(await call.db())
      const webhooks = all.filter((each) => workspace === undefined || each.workspaceId === workspace.id)
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
      const empty =
        'No webhooks yet. Create one with: npx parley webhook create --workspace ID --name NAME --url URL --event EVENT'
      const lines = table(headings, rows, empty)
      return { lines, json: jsonList(webhooks.map((each) => ({ ...each.webhook, account_id: each.workspaceId }))) }
    },
  },
  {
    name: 'webhook change',
    summary: 'Change the name, URL or events of a webhook',
    details: 'Options that are not given stay as they are.',
    args: ['ID'],
    options: {
      name: { value: 'NAME', help: 'New name' },
      url: { value: 'URL', help: 'New URL, used from the next attempt on' },
      event: { value: 'EVENT', repeated: true, help: 'Event types to receive; replaces the current ones' },
    },
    examples: ['webhook change ID --url https://crm.example/v2/hooks'],
    async run({ db, config, option, options, args: [id = ''] }) {
      const [name, url, events] = [option('name'), option('url'), readList(options('event'))]
      const input = { ...(name && { name }), ...(url && { url }), ...(events.length > 0 && { events }) }
      if (Object.keys(input).length === 0) throw new UsageError('Nothing to change. Pass --name, --url or --event.')
      const webhook = await changeWebhook(await db(), config.targetRules, id, input)
      return { lines: [`Updated webhook ${webhook.name} (${webhook.id}).`], json: webhook }
    },
  },
  {
    name: 'webhook delete',
    summary: 'Delete a webhook',
    details: 'Undelivered events are dropped. Past deliveries can still be viewed.',
    args: ['ID'],
    options: { yes: { help: 'Delete it even if undelivered events would be dropped' } },
    async run({ db, clock, flag, args: [id = ''] }) {
      const dropped = await countUndelivered(await db(), id)
      if (dropped > 0 && !flag('yes')) {
        throw new StartupError(
          `${plural(dropped, 'undelivered event')} for ${id} would be dropped. To delete it anyway, add --yes.`,
        )
      }
      await deleteWebhook(await db(), clock, id)
      return { lines: [`Deleted webhook ${id}.`], json: { id, object: 'webhook', deleted: true, dropped } }
    },
  },
  testCommand,
  {
    name: 'webhook rotate',
    summary: 'Create a new signing secret for a webhook',
    details:
      'The old secret stops working immediately, and deliveries that failed within the last hour are retried. With --staged both secrets sign until you activate the new one. The new one is shown only once.',
    args: ['ID'],
    options: { staged: { help: 'Keep the old secret until you run: parley webhook activate ID' } },
    examples: ['webhook rotate ID --staged'],
    async run({ db, clock, config, flag, args: [id = ''] }) {
      if (flag('staged')) {
        const { webhook, secret } = await stageRotation(await db(), config.secretKeys(), id)
        const line = `Created a new secret for webhook ${webhook.name} (${webhook.id}). Deliveries are signed with both secrets.`
        return withSecret(line, { webhook, secret }, [
          '',
          `When the receiver has it, end the old secret with: npx parley webhook activate ${webhook.id}`,
        ])
      }
      const rotated = await rotateWebhook(await db(), clock, config.secretKeys(), id)
      return withSecret(`Rotated the secret of webhook ${rotated.webhook.name} (${rotated.webhook.id}).`, rotated)
    },
  },
  {
    name: 'webhook activate',
    summary: 'End the old secret of a staged rotation',
    details: 'Deliveries that failed within the last hour are retried, signed with the new secret only.',
    args: ['ID'],
    options: { cancel: { help: 'Drop the new secret instead and keep the old one' } },
    async run({ db, clock, flag, args: [id = ''] }) {
      if (flag('cancel')) {
        const webhook = await cancelRotation(await db(), id)
        return { lines: [`Dropped the new secret of webhook ${webhook.name} (${webhook.id}).`], json: webhook }
      }
      const webhook = await activateSecret(await db(), clock, id)
      return {
        lines: [`Activated the new secret of webhook ${webhook.name} (${webhook.id}). The old one no longer works.`],
        json: webhook,
      }
    },
  },
  {
    name: 'webhook enable',
    summary: 'Enable a webhook and deliver the events held for it',
    args: ['ID'],
    async run({ db, clock, args: [id = ''] }) {
      const webhook = await enableWebhook(await db(), clock, id)
      return {
        lines: [`Enabled webhook ${webhook.name} (${webhook.id}). Held events are being delivered.`],
        json: webhook,
      }
    },
  },
  {
    name: 'webhook disable',
    summary: 'Disable a webhook and hold its events',
    details: 'No event is lost: held events are delivered when you enable the webhook again.',
    args: ['ID'],
    options: { reason: { value: 'TEXT', required: true, help: 'Reason, shown in the console' } },
    examples: ['webhook disable ID --reason "Moving to a new server"'],
    async run({ db, option, args: [id = ''] }) {
      const webhook = await disableWebhook(await db(), id, option('reason') ?? '')
      return { lines: [`Disabled webhook ${webhook.name} (${webhook.id}). Its events are held.`], json: webhook }
    },
  },
]

async function countUndelivered(db: Db, webhookId: string): Promise<number> {
  const undelivered = (['pending', 'retrying', 'held'] as const).map((state) =>
    listDeliveries(db, { webhookId, state, limit: 10_000 }),
  )
  return (await Promise.all(undelivered)).flat().length
}

const withSecret = (
  line: string,
  { webhook, secret }: { webhook: Webhook; secret: string },
  next: readonly string[] = [],
) => ({
  lines: [line, '', 'Signing secret (shown only once):', '', `  ${secret}`, ...next],
  json: { ...webhook, secret },
})
