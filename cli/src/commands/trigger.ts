import { type EventType, eventTypes } from '@parley/contract/events'
import { sendTestEvent } from '@parley/server/domain/webhooks/test-event'
import { listAllWebhooks } from '@parley/server/domain/webhooks/webhooks'
import type { Workspace } from '@parley/server/domain/workspaces/workspaces'
import { StartupError } from '@parley/server/lib/refuse'
import { change } from '../audit.ts'
import type { Call, Command } from '../command.ts'
import { openFeed, refuseType } from '../event-feed.ts'
import { plural } from '../format.ts'
import { newProgress } from '../progress.ts'
import { findSimulatedSender } from '../simulated-sender.ts'
import { jsonList, table } from '../table.ts'
import { makers } from '../trigger-events.ts'
import { readWorkspace, workspaceOption } from '../workspace-option.ts'

/** How long it waits for the event. */
const waitMs = 30_000

export const commands: readonly Command[] = [
  {
    name: 'trigger',
    details:
      'Where it can, the simulator makes it happen for real: a phone writes, a message is sent, a template is paused. Otherwise every webhook that receives the type gets a test event with an example. Without EVENT, it lists the types.',
    args: ['[EVENT]'],
    options: { workspace: workspaceOption('Workspace in which it happens') },
    examples: ['trigger', 'trigger message.received', 'trigger credits.low --workspace "Acme"'],
    async run(call) {
      const [text] = call.args
      if (text === undefined) return listTypes()
      const type = eventTypes.find((each) => each === text) ?? refuseType(text)
      const workspace = await readWorkspace(call)
      const sender = makers[type] ? await findSimulatedSender(call, workspace) : null
      const make = makers[type]
      return sender && make
        ? forReal(call, workspace, type, () => make({ call, workspace, sender }))
        : asTest(call, workspace, type)
    },
  },
]

function listTypes() {
  const rows = eventTypes.map((type) => ({ type, how: makers[type] ? 'simulator' : 'test_event' }))
  return {
    lines: [
      ...table(
        ['EVENT', 'HOW'],
        rows.map(({ type, how }) => [type, how === 'simulator' ? 'for real, in the simulator' : 'as a test event']),
        '',
      ),
      '',
      'Run "./parley trigger EVENT" with one of them.',
    ],
    json: jsonList(rows),
  }
}

/** Waits for the event, so that it can name it. */
async function forReal(call: Call, workspace: Workspace, type: EventType, make: () => Promise<string>) {
  const stop = AbortSignal.any([call.stopped, AbortSignal.timeout(waitMs)])
  const feed = await openFeed(call, workspace, stop)
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

async function asTest(call: Call, workspace: Workspace, type: EventType) {
  const webhooks = (await listAllWebhooks(await call.db())).filter(
    ({ workspaceId, webhook }) =>
      workspaceId === workspace.id && webhook.enabled && webhook.events.some((each) => each === type),
  )
  if (webhooks.length === 0) {
    throw new StartupError(
      `No enabled webhook of workspace ${workspace.name} receives ${type}. Create one with: ./parley webhook create --name NAME --url URL --event ${type}`,
    )
  }
  const sent = await change(call, async (tx, audit) => {
    const ids = []
    for (const { webhook } of webhooks) {
      const eventId = await sendTestEvent(tx, call.clock, webhook.id, type)
      const after = { type, event: eventId }
      await audit({
        action: 'webhook.test',
        workspaceId: workspace.id,
        target: webhook.id,
        targetName: webhook.name,
        after,
      })
      ids.push({ webhook_id: webhook.id, event_id: eventId })
    }
    return ids
  })
  return {
    lines: [`Sent a test event with an example of ${type} to ${plural(sent.length, 'webhook')}.`],
    json: { how: 'test_event', sent },
  }
}
