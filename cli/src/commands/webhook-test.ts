import { setTimeout as sleep } from 'node:timers/promises'
import { firstAttemptOfTest, sendTestEvent } from '@parley/server/domain/webhooks/test-event'
import { requireWebhook } from '@parley/server/domain/webhooks/webhooks'
import { change } from '../audit.ts'
import type { Command } from '../command.ts'
import { readType } from '../event-feed.ts'
import { newProgress } from '../progress.ts'

/** Longer than the 10 s that an endpoint has to respond. */
const timeoutMs = 13_000

export const testCommand: Command = {
  name: 'webhook test',
  details: 'Works for disabled webhooks too. The service must be running to deliver it.',
  args: ['ID'],
  idOf: 'webhook',
  options: {
    event: { value: 'EVENT', help: 'Event type to show an example of; by default the first that the webhook receives' },
    wait: { help: 'Wait for the first attempt and print its result' },
  },
  examples: ['webhook test ID --wait'],
  async run(call) {
    const { db, clock, flag, option } = call
    const [id = ''] = call.args
    const given = option('event')
    const type = given === undefined ? undefined : readType(given)
    const eventId = await change(call, async (tx, audit) => {
      const { workspaceId, webhook } = await requireWebhook(tx, id)
      const sent = await sendTestEvent(tx, clock, id, type)
      const after = { type, event: sent }
      await audit({ action: 'webhook.test', workspaceId, target: id, targetName: webhook.name, after })
      return sent
    })
    const ids = { event_id: eventId, webhook_id: id }
    if (!flag('wait')) {
      const lines = [`Queued test event ${eventId}.`, `See the result with: ./parley delivery list --webhook ${id}`]
      return { lines, json: { ...ids, state: 'pending' } }
    }
    const connection = await db()
    const attempt = await waitFor(() => firstAttemptOfTest(connection, clock, id, eventId))
    if (!attempt) {
      const lines = [`Queued test event ${eventId}, but no delivery attempt was made yet. Is the service running?`]
      return { lines, json: { ...ids, state: 'pending' }, failed: true }
    }
    const { status, error, duration_ms, address, state } = attempt
    const ms = Math.round(duration_ms)
    const result = error === null ? 'Delivered' : `Delivery failed (${error})`
    const response = status === null ? 'no response' : `HTTP ${status} from ${address}`
    return {
      lines: [`${result}: ${response} after ${ms} ms.`],
      json: { ...ids, state, status, error, address, duration_ms: ms },
      failed: error !== null,
    }
  },
}

async function waitFor<Found>(find: () => Promise<Found | undefined>): Promise<Found | undefined> {
  const progress = newProgress()
  progress.say('Waiting for the first attempt')
  try {
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(150)) {
      const found = await find()
      if (found) return found
    }
    return undefined
  } finally {
    progress.end()
  }
}
