import { deliveryStates } from '@parley/contract/console/deliveries'
import { type Delivery, listDeliveries } from '@parley/server/domain/deliveries/reading/newest'
import { retryDelivery, retryFailedSince } from '@parley/server/domain/deliveries/retry'
import { requireWebhook } from '@parley/server/domain/webhooks/webhooks'
import { change } from '../audit.ts'
import { type Command, UsageError } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { readChoice, readTime } from '../read-options.ts'
import { jsonList, table } from '../table.ts'

export const commands: readonly Command[] = [
  {
    name: 'delivery list',
    options: {
      webhook: { value: 'ID', idOf: 'webhook', help: 'Only those to this webhook' },
      state: { value: 'STATE', help: `Only those in this state: ${deliveryStates.join(', ')}` },
    },
    examples: ['delivery list', 'delivery list --webhook ID --state failed'],
    async run({ db, option }) {
      const deliveries = await listDeliveries(await db(), {
        webhookId: option('webhook'),
        state: readChoice('state', option('state'), deliveryStates),
      })
      const rows = deliveries.map((each) => [
        each.event_id,
        each.webhook_id,
        each.event ?? '',
        each.state,
        String(each.attempts),
        each.last_attempt_at ? formatTime(each.last_attempt_at) : 'never',
        [each.last_status, each.last_error].filter((part) => part !== null).join(' '),
        nextAttempt(each),
      ])
      const headings = ['EVENT', 'WEBHOOK', 'TYPE', 'STATE', 'ATTEMPTS', 'LAST ATTEMPT', 'RESPONSE', 'NEXT ATTEMPT']
      return { lines: table(headings, rows, 'No deliveries.'), json: jsonList(deliveries) }
    },
  },
  {
    name: 'delivery retry',
    details: 'An event can be delivered again in any state, even after a successful delivery.',
    args: ['[EVENT_ID]'],
    idOf: 'event',
    options: {
      webhook: { value: 'ID', idOf: 'webhook', required: true, help: 'Webhook to deliver to' },
      'failed-since': { value: 'TIME', help: 'Instead of EVENT_ID: retry every delivery that failed since this time' },
    },
    examples: [
      'delivery retry EVENT_ID --webhook ID',
      'delivery retry --webhook ID --failed-since 2026-11-15T08:00:00Z',
    ],
    async run(call) {
      const { clock, option } = call
      const [eventId] = call.args
      const webhookId = option('webhook') ?? ''
      const since = option('failed-since')
      if ((eventId === undefined) === (since === undefined))
        throw new UsageError('Pass either EVENT_ID or --failed-since.')
      if (eventId === undefined) {
        const from = readTime('failed-since', since ?? '')
        const { count: retried, more } = await change(call, async (tx, audit) => {
          const { workspaceId, webhook } = await requireWebhook(tx, webhookId)
          const found = await retryFailedSince(tx, clock, webhookId, from)
          const after = { since: from.toISOString(), retried: found.count, more: found.more }
          await audit({ action: 'webhook.recover', workspaceId, target: webhookId, targetName: webhook.name, after })
          return found
        })
        return {
          lines: [
            `Retrying ${plural(retried, 'event')} that failed since ${formatTime(from)}.`,
            ...(more ? ['More failed since then. They are retried in the background.'] : []),
          ],
          json: { webhook_id: webhookId, failed_since: from.toISOString(), retried, more },
        }
      }
      await change(call, async (tx, audit) => {
        const { workspaceId } = await requireWebhook(tx, webhookId)
        await retryDelivery(tx, clock, webhookId, eventId)
        await audit({ action: 'delivery.retry', workspaceId, target: eventId, after: { webhook: webhookId } })
      })
      return {
        lines: [`Retrying event ${eventId}.`],
        json: { event_id: eventId, webhook_id: webhookId, state: 'pending' },
      }
    },
  },
]

function nextAttempt({ next_attempt_at, held_since }: Delivery): string {
  if (held_since) return `held since ${formatTime(held_since)}`
  return next_attempt_at ? formatTime(next_attempt_at) : ''
}
