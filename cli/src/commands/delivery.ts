import { type DeliveryState, deliveryStates } from '@parley/contract/console/deliveries'
import { listDeliveries } from '@parley/server/domain/deliveries/reading/newest'
import { retryDelivery, retryFailedSince } from '@parley/server/domain/deliveries/retry'
import { type Command, UsageError } from '../command.ts'
import { readTime } from '../read.ts'
import { jsonList, table } from '../table.ts'

export const deliveryCommands: readonly Command[] = [
  {
    name: 'delivery list',
    summary: 'Show the newest 50 deliveries and how they stand',
    options: {
      webhook: { value: 'ID', help: 'only this endpoint’s' },
      state: { value: 'S', help: `only those that are ${deliveryStates.join(', ')}` },
    },
    async run({ db, option }) {
      const deliveries = await listDeliveries(await db(), {
        webhookId: option('webhook'),
        state: readState(option('state')),
      })
      const rows = deliveries.map((each) => [
        each.event_id,
        each.webhook_id,
        each.event ?? '',
        each.state,
        String(each.attempts),
        each.last_attempt_at ?? 'never',
        [each.last_status, each.last_error].filter((part) => part !== null).join(' '),
        each.next_attempt_at ?? '',
      ])
      const headings = ['EVENT', 'WEBHOOK', 'TYPE', 'STATE', 'ATTEMPTS', 'LAST', 'ANSWER', 'NEXT']
      return { lines: table(headings, rows, 'There is no delivery yet.'), json: jsonList(deliveries) }
    },
  },
  {
    name: 'delivery retry',
    summary: 'Deliver an event once more, whatever became of it; or all that failed since a time',
    args: ['[EVENT_ID]'],
    options: {
      webhook: { value: 'ID', required: true, help: 'to which endpoint' },
      'failed-since': { value: 'T', help: 'in place of EVENT_ID: everything that was given up since then' },
    },
    async run({ db, clock, option, args: [eventId] }) {
      const webhookId = option('webhook') ?? ''
      const since = option('failed-since')
      if ((eventId === undefined) === (since === undefined))
        throw new UsageError('Name EVENT_ID or --failed-since, one of the two.')
      if (eventId === undefined) {
        const from = readTime('failed-since', since ?? '')
        const retried = await retryFailedSince(await db(), clock, webhookId, from)
        return {
          lines: [`${retried} that failed since ${from.toISOString()} are due again for ${webhookId}.`],
          json: { webhook_id: webhookId, failed_since: from.toISOString(), retried },
        }
      }
      await retryDelivery(await db(), clock, webhookId, eventId)
      return {
        lines: [`Event ${eventId} is due again for ${webhookId}.`],
        json: { event_id: eventId, webhook_id: webhookId, state: 'pending' },
      }
    },
  },
]

function readState(text: string | undefined): DeliveryState | undefined {
  if (text === undefined) return undefined
  const state = deliveryStates.find((each) => each === text)
  if (!state) throw new UsageError(`--state is "${text}", but it takes one of ${deliveryStates.join(', ')}.`)
  return state
}
