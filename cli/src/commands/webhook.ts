import { eventTypes } from '@parley/contract/events'
import type { Webhook } from '@parley/contract/webhook'
import type { Db } from '@parley/server/db/db'
import { listDeliveries } from '@parley/server/domain/deliveries/reading/newest'
import { checkInput } from '@parley/server/domain/webhooks/check-input'
import { activateSecret, cancelRotation, rotateWebhook, stageRotation } from '@parley/server/domain/webhooks/rotation'
import {
  checkChange,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  type OwnedWebhook,
  requireWebhook,
  saveNewWebhook,
  saveWebhook,
  settingsChanges,
  settingsOf,
} from '@parley/server/domain/webhooks/webhooks'
import { StartupError } from '@parley/server/lib/refuse'
import { change } from '../audit.ts'
import { type Command, UsageError } from '../command.ts'
import { plural } from '../format.ts'
import { readList } from '../read-options.ts'
import { readWorkspace, workspaceOption } from '../workspace-option.ts'
import { changedHeaders, optionsOfWebhook, readHeaders, readOrdering, readSenders } from './webhook-options.ts'
import { testCommand } from './webhook-test.ts'

export const commands: readonly Command[] = [
  {
    name: 'webhook create',
    details: 'The signing secret is shown only once.',
    options: {
      workspace: workspaceOption('Workspace whose events it receives'),
      name: { value: 'NAME', required: true, help: 'Name of the webhook, such as the system behind it' },
      url: { value: 'URL', required: true, help: 'URL that events are sent to' },
      event: { value: 'EVENT', required: true, repeated: true, help: `Event type: ${eventTypes.join(', ')}` },
      ...optionsOfWebhook,
    },
    examples: [
      'webhook create --workspace ID --name "CRM" --url https://crm.example/hooks --event message.received',
      'webhook create --name "CRM" --url https://crm.example/hooks --event message.received --header "Authorization: Bearer TOKEN" --ordering conversation',
    ],
    async run(call) {
      const { clock, config, option, options } = call
      const { id: workspaceId } = await readWorkspace(call)
      const input = {
        name: option('name') ?? '',
        url: option('url') ?? '',
        events: readList(call, 'event'),
        ...readSenders(call),
        ...readOrdering(option('ordering')),
        headers: readHeaders(options('header')),
      }
      const checked = await checkInput(config.targetRules, input, workspaceId)
      const created = await change(call, async (tx, audit) => {
        const saved = await saveNewWebhook(tx, clock, config.secretKeys(), workspaceId, checked)
        await audit({
          action: 'webhook.create',
          ...targetOf({ workspaceId, ...saved }),
          after: settingsOf(saved.webhook),
        })
        return saved
      })
      return withSecret(`Created webhook ${created.webhook.name} (${created.webhook.id}).`, created)
    },
  },
  {
    name: 'webhook change',
    details:
      'Options that are not given stay as they are. --sender all removes the filter, --header "Name:" removes a header.',
    args: ['ID'],
    idOf: 'webhook',
    options: {
      name: { value: 'NAME', help: 'New name' },
      url: { value: 'URL', help: 'New URL, used from the next attempt on' },
      event: { value: 'EVENT', repeated: true, help: 'Event types to receive; replaces the current ones' },
      ...optionsOfWebhook,
    },
    examples: [
      'webhook change ID --url https://crm.example/v2/hooks',
      'webhook change ID --sender all --ordering none',
    ],
    async run(call) {
      const { clock, config, option, options } = call
      const [name, url, events] = [option('name'), option('url'), readList(call, 'event')]
      const input = {
        ...(name && { name }),
        ...(url && { url }),
        ...(events.length > 0 && { events }),
        ...readSenders(call),
        ...readOrdering(option('ordering')),
      }
      const headers = readHeaders(options('header'))
      if (Object.keys(input).length === 0 && headers.length === 0) {
        throw new UsageError('Nothing to change. Pass --name, --url, --event, --sender, --header or --ordering.')
      }
      const before = await requireWebhook(await call.db(), call.args[0] ?? '')
      const checked = await checkChange(config.targetRules, before, {
        ...input,
        ...(headers.length > 0 && { headers: changedHeaders(before.webhook.headers, headers) }),
      })
      const webhook = await change(call, async (tx, audit) => {
        const saved = await saveWebhook(tx, clock, config.secretKeys, before, checked)
        const changes = settingsChanges(before.webhook, saved, checked)
        await audit({ action: 'webhook.change', ...targetOf({ ...before, webhook: saved }), ...changes })
        return saved
      })
      return { lines: [`Updated webhook ${webhook.name} (${webhook.id}).`], json: webhook }
    },
  },
  {
    name: 'webhook delete',
    details: 'Undelivered events are dropped. Past deliveries can still be viewed.',
    args: ['ID'],
    idOf: 'webhook',
    options: { yes: { help: 'Delete it even if undelivered events would be dropped' } },
    examples: ['webhook delete ID --yes'],
    async run(call) {
      const { clock, flag } = call
      const [id = ''] = call.args
      const dropped = await countUndelivered(await call.db(), id)
      if (dropped > 0 && !flag('yes')) {
        throw new StartupError(
          `${plural(dropped, 'undelivered event')} for ${id} would be dropped. To delete it anyway, add --yes.`,
        )
      }
      await change(call, async (tx, audit) => {
        const owned = await requireWebhook(tx, id)
        await deleteWebhook(tx, clock, id)
        const before = { ...settingsOf(owned.webhook), undelivered: dropped }
        await audit({ action: 'webhook.delete', ...targetOf(owned), before })
      })
      return { lines: [`Deleted webhook ${id}.`], json: { id, object: 'webhook', deleted: true, dropped } }
    },
  },
  testCommand,
  {
    name: 'webhook rotate',
    details:
      'The old secret stops working immediately, and deliveries that failed within the last hour are retried. With --staged both secrets sign until you activate the new one. The new one is shown only once.',
    args: ['ID'],
    idOf: 'webhook',
    options: { staged: { help: 'Keep the old secret until you run: parley webhook activate ID' } },
    examples: ['webhook rotate ID --staged'],
    async run(call) {
      const { clock, config, flag } = call
      const [id = ''] = call.args
      if (flag('staged')) {
        const { webhook, secret } = await change(call, async (tx, audit) => {
          const owned = await requireWebhook(tx, id)
          const staged = await stageRotation(tx, config.secretKeys(), id)
          const after = { staged_secret_hint: staged.stagedSecretHint }
          await audit({ action: 'webhook.stage_secret', ...targetOf(owned), after })
          return staged
        })
        const line = `Created a new secret for webhook ${webhook.name} (${webhook.id}). Deliveries are signed with both secrets.`
        return withSecret(line, { webhook, secret }, [
          '',
          `When the receiver has it, end the old secret with: ./parley webhook activate ${webhook.id}`,
        ])
      }
      const rotated = await change(call, async (tx, audit) => {
        const before = await requireWebhook(tx, id)
        const replaced = await rotateWebhook(tx, clock, config.secretKeys(), id)
        await audit({ action: 'webhook.rotate', ...targetOf(before), ...hintsOf(before.webhook, replaced.webhook) })
        return replaced
      })
      return withSecret(`Rotated the secret of webhook ${rotated.webhook.name} (${rotated.webhook.id}).`, rotated)
    },
  },
  {
    name: 'webhook activate',
    details: 'Deliveries that failed within the last hour are retried, signed with the new secret only.',
    args: ['ID'],
    idOf: 'webhook',
    options: { cancel: { help: 'Drop the new secret instead and keep the old one' } },
    examples: ['webhook activate ID', 'webhook activate ID --cancel'],
    async run(call) {
      const [id = ''] = call.args
      if (call.flag('cancel')) {
        const webhook = await change(call, async (tx, audit) => {
          const owned = await requireWebhook(tx, id)
          const kept = await cancelRotation(tx, id)
          const before = { staged_secret_hint: owned.stagedSecretHint }
          await audit({ action: 'webhook.cancel_rotation', ...targetOf(owned), before })
          return kept
        })
        return { lines: [`Dropped the new secret of webhook ${webhook.name} (${webhook.id}).`], json: webhook }
      }
      const webhook = await change(call, async (tx, audit) => {
        const before = await requireWebhook(tx, id)
        const activated = await activateSecret(tx, call.clock, id)
        await audit({ action: 'webhook.activate_secret', ...targetOf(before), ...hintsOf(before.webhook, activated) })
        return activated
      })
      return {
        lines: [
          `Activated the new secret of webhook ${webhook.name} (${webhook.id}). The old one has stopped working.`,
        ],
        json: webhook,
      }
    },
  },
  {
    name: 'webhook enable',
    args: ['ID'],
    idOf: 'webhook',
    examples: ['webhook enable ID'],
    async run(call) {
      const [id = ''] = call.args
      const webhook = await change(call, async (tx, audit) => {
        const before = await requireWebhook(tx, id)
        const enabled = await enableWebhook(tx, call.clock, id)
        await audit({ action: 'webhook.enable', ...targetOf(before), ...statesOf(before.webhook, enabled) })
        return enabled
      })
      return {
        lines: [`Enabled webhook ${webhook.name} (${webhook.id}). Held events are being delivered.`],
        json: webhook,
      }
    },
  },
  {
    name: 'webhook disable',
    details: 'No event is lost: held events are delivered when you enable the webhook again.',
    args: ['ID'],
    idOf: 'webhook',
    options: { reason: { value: 'TEXT', required: true, help: 'Reason, shown in the console' } },
    examples: ['webhook disable ID --reason "Moving to a new server"'],
    async run(call) {
      const [id = ''] = call.args
      const webhook = await change(call, async (tx, audit) => {
        const before = await requireWebhook(tx, id)
        const disabled = await disableWebhook(tx, call.clock, id, call.option('reason') ?? '')
        await audit({ action: 'webhook.disable', ...targetOf(before), ...statesOf(before.webhook, disabled) })
        return disabled
      })
      return { lines: [`Disabled webhook ${webhook.name} (${webhook.id}). Its events are held.`], json: webhook }
    },
  },
]

const targetOf = ({ workspaceId, webhook }: Pick<OwnedWebhook, 'workspaceId' | 'webhook'>) => ({
  workspaceId,
  target: webhook.id,
  targetName: webhook.name,
})

const hintsOf = (before: Webhook, after: Webhook) => ({
  before: { secret_hint: before.secret_hint },
  after: { secret_hint: after.secret_hint },
})

const statesOf = (before: Webhook, after: Webhook) => ({
  before: { enabled: before.enabled, disabled_reason: before.disabled_reason },
  after: { enabled: after.enabled, disabled_reason: after.disabled_reason },
})

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
