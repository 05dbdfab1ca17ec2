import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@parley/server/db/db'
import { type AttemptRecord, listAttempts } from '@parley/server/domain/deliveries/reading/attempts'
import { sendTestEvent } from '@parley/server/domain/webhooks/test-event'
import type { Command } from '../command.ts'
import { newProgress } from '../progress.ts'

/** Longer than a receiver has to answer. */
const timeoutMs = 13_000

export const testCommand: Command = {
  name: 'webhook test',
  summary: 'Send an endpoint an event that means nothing, to see whether it takes it, even while it is disabled',
  args: ['ID'],
  options: { wait: { help: 'until the first attempt is made, and say how it ended; the service has to run' } },
  async run({ db, clock, flag, args: [id = ''] }) {
    const eventId = await sendTestEvent(await db(), clock, id)
    const about = { event_id: eventId, webhook_id: id }
    if (!flag('wait')) {
      const lines = [`Event ${eventId} is due for ${id}.`, `How it went: npx parley delivery list --webhook ${id}`]
      return { lines, json: { ...about, state: 'pending' } }
    }
    const attempt = await firstAttempt(await db(), id, eventId)
    if (!attempt) {
      const lines = [`Event ${eventId} is due, but nobody has tried to deliver it so far. Does the service run?`]
      return { lines, json: { ...about, state: 'pending' }, failed: true }
    }
    const { status, error, durationUs, address, state } = attempt
    const ms = Math.round(durationUs / 1000)
    const words = error === null ? 'It was taken' : `It was not taken (${error})`
    return {
      lines: [`${words}: ${status === null ? 'no answer' : `status ${status} from ${address}`} after ${ms} ms.`],
      json: { ...about, state, status, error, address, duration_ms: ms },
      failed: error !== null,
    }
  },
}

async function firstAttempt(db: Db, webhookId: string, eventId: string): Promise<AttemptRecord | undefined> {
  const progress = newProgress()
  progress.say('Waiting for the first attempt')
  try {
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(150)) {
      const made = (await listAttempts(db, webhookId)).findLast((attempt) => attempt.eventId === eventId)
      if (made) return made
    }
    return undefined
  } finally {
    progress.end()
  }
}
