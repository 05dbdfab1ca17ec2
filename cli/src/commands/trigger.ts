import { type EventType, eventTypes } from '@parley/contract/event-types'
import { StartupError } from '@parley/server/lib/refuse'
import { keyOptions, readService } from '../by-key.ts'
import type { Call, Command } from '../command.ts'
import { readType } from '../event-feed.ts'
import { plural } from '../format.ts'
import { openSource } from '../open-source.ts'
import { program } from '../program.ts'
import { newProgress } from '../progress.ts'
import type { Source } from '../source.ts'
import { jsonList, table } from '../table.ts'
import { testNumbers } from '../test-numbers.ts'
import { workspaceOption } from '../workspace-option.ts'

/** How long it waits for the event. */
const waitMs = 30_000

export const commands: readonly Command[] = [
  {
    name: 'trigger',
    details:
      'Without EVENT, it lists the types. With an API key, it sends a message to a test number of the simulator, which sends, delivers, reads or rejects it. For all other types, it says what an operator runs.',
    withDatabase:
      'Without an API key, the simulator makes it happen for real where it can: a phone writes, a message is sent, a template is paused. Otherwise every webhook that receives the type gets a test event with an example.',
    args: ['[EVENT]'],
    options: { workspace: workspaceOption('Workspace in which it happens'), ...keyOptions },
    examples: ['trigger', 'trigger message.failed', 'trigger message.received --workspace "Acme"'],
    async run(call) {
      const [text] = call.args
      if (text === undefined) return listTypes(call)
      const type = readType(text)
      const source = await openSource(call)
      const make = await source.makerOf(type)
      return make ? forReal(call, source, type, make) : asTest(source, type)
    },
  },
]

const ways = {
  simulator: 'for real, in the simulator',
  test_event: 'as a test event',
  operator: 'by an operator, on the server',
} as const

async function listTypes(call: Call) {
  const isByKey = readService(call) !== null
  const made = isByKey ? testNumbers : (await import('../trigger-events.ts')).makers
  const otherwise = isByKey ? 'operator' : 'test_event'
  const rows = eventTypes.map((type) => ({ type, how: made[type] ? 'simulator' : otherwise }) as const)
  return {
    lines: [
      ...table(
        ['EVENT', 'HOW'],
        rows.map(({ type, how }) => [type, ways[how]]),
        '',
      ),
      '',
      `Run "${program.name} trigger EVENT" with one of them.`,
    ],
    json: jsonList(rows),
  }
}

/** Waits for the event, so that it can name it. */
async function forReal(call: Call, source: Source, type: EventType, make: () => Promise<string>) {
  const stop = AbortSignal.any([call.stopped, AbortSignal.timeout(waitMs)])
  const feed = await source.openFeed(stop)
  const progress = newProgress()
  try {
    const { nextCursor } = await feed.read({ after: 'latest', limit: 1 })
    progress.say(`Making ${type} happen`)
    const done = await make()
    const { bodies } = await feed.read({ after: nextCursor, type: [type], wait: waitMs / 1000 - 5 })
    const [body] = bodies
    if (!body) {
      throw new StartupError(
        `${done} But no ${type} event came within ${waitMs / 1000} seconds. Is the service running?`,
      )
    }
    const event = JSON.parse(body.toString()) as { id: string }
    return { lines: [done, `Event ${event.id} of type ${type}.`], json: { how: 'simulator', done, event } }
  } finally {
    progress.end()
    await feed.close()
  }
}

async function asTest(source: Source, type: EventType) {
  const sent = await source.sendTestEvents(type)
  return {
    lines: [`Sent a test event with an example of ${type} to ${plural(sent.length, 'webhook')}.`],
    json: { how: 'test_event', sent },
  }
}
