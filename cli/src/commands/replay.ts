import type { ConsoleReplay } from '@parley/contract/console/replays'
import { defaultReplayRate, type Replay, replayCoverages } from '@parley/contract/replay'
import {
  cancelReplay,
  countReplayFully,
  getReplay,
  listReplays,
  startReplay,
} from '@parley/server/domain/deliveries/replays/replays'
import { change } from '../audit.ts'
import { type Command, UsageError } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { readChoice, readList, readTime } from '../read-options.ts'
import { jsonList, table } from '../table.ts'

/** `webhook replay` */
const startReplayCommand: Command = {
  name: 'webhook replay',
  details:
    'The events keep their IDs and are sent oldest first, each with a full retry schedule. By default, only events that failed permanently are sent. The running service sends them; see them with: parley replay show ID',
  args: ['ID'],
  idOf: 'webhook',
  options: {
    since: { value: 'TIME', required: true, help: 'Events from this time on' },
    until: { value: 'TIME', help: 'Events up to this time; until now if it is not given' },
    event: { value: 'EVENT', repeated: true, help: 'Only events of this type; the webhook has to subscribe to it' },
    sender: { value: 'ID', repeated: true, help: 'Only events of this sender' },
    only: {
      value: 'WHICH',
      help: 'failed: failed permanently (default), missing: never delivered to this webhook, all',
    },
    rate: { value: 'N', help: `Events per second at most; ${defaultReplayRate} if it is not given` },
  },
  examples: [
    'webhook replay ID --since 2026-11-15T08:00:00Z',
    'webhook replay ID --since 2026-11-09T00:00:00Z --only missing --rate 200',
  ],
  async run(call) {
    const { clock, option } = call
    const [id = ''] = call.args
    const [until, rate] = [option('until'), option('rate')]
    const [events, senders] = [readList(call, 'event'), readList(call, 'sender')]
    const input = {
      since: readTime('since', option('since') ?? ''),
      ...(until !== undefined && { until: readTime('until', until) }),
      ...(events.length > 0 && { events }),
      ...(senders.length > 0 && { senders }),
      ...(rate !== undefined && { rate: readRate(rate) }),
      only: readChoice('only', option('only') ?? 'failed', replayCoverages),
    }
    const started = await change(call, async (tx, audit) => {
      const { replay, workspaceId, webhookName } = await startReplay(tx, clock, id, input)
      const after = { replay: replay.id, ...input, rate: replay.rate }
      await audit({ action: 'webhook.replay', workspaceId, target: id, targetName: webhookName, after })
      return replay
    })
    const replay = await countReplayFully(await call.db(), started.id)
    return {
      lines: [
        `Started replay ${replay.id}. It covers ${plural(replay.total, 'event')}, at most ${replay.rate} per second.`,
        `See its progress with: ./parley replay show ${replay.id}`,
      ],
      json: replay,
    }
  },
}

export const commands: readonly Command[] = [
  startReplayCommand,
  {
    name: 'replay list',
    options: { webhook: { value: 'ID', idOf: 'webhook', help: 'Only those of this webhook' } },
    examples: ['replay list --webhook ID'],
    async run({ db, option }) {
      const replays = await listReplays(await db(), option('webhook'))
      const rows = replays.map((each) => [
        each.id,
        each.webhook_id,
        stateOf(each),
        String(each.total),
        String(each.delivered),
        String(each.failed),
        String(each.rate),
        formatTime(each.created_at),
      ])
      const headings = ['ID', 'WEBHOOK', 'STATE', 'EVENTS', 'DELIVERED', 'FAILED', 'RATE', 'STARTED']
      const empty = 'No replays yet. Start one with: ./parley webhook replay ID --since TIME'
      return { lines: table(headings, rows, empty), json: jsonList(replays.map(toJson)) }
    },
  },
  {
    name: 'replay show',
    args: ['ID'],
    idOf: 'replay',
    examples: ['replay show ID'],
    async run({ db, args }) {
      const replay = await getReplay(await db(), args[0] ?? '')
      return { lines: describe(replay), json: toJson(replay) }
    },
  },
  {
    name: 'replay cancel',
    args: ['ID'],
    idOf: 'replay',
    examples: ['replay cancel ID'],
    async run(call) {
      const [id = ''] = call.args
      const replay = await change(call, async (tx, audit) => {
        const { replay, workspaceId, webhookName } = await cancelReplay(tx, call.clock, id)
        const { state, delivered, failed, total } = replay
        const after = { state, delivered, failed, total }
        const before = { replay: id, state: 'running' }
        const target = { target: replay.webhook_id, targetName: webhookName }
        await audit({ action: 'webhook.cancel_replay', workspaceId, ...target, before, after })
        return replay
      })
      const line = `Cancelled replay ${replay.id}. Of ${plural(replay.total, 'event')}, ${replay.delivered} were delivered and ${replay.failed} failed.`
      return { lines: [line], json: toJson(replay) }
    },
  },
]

/** As in the contract: without the details that only people look at. */
const toJson = ({ id, webhook_id, state, total, delivered, failed, rate, created_at }: ConsoleReplay): Replay => ({
  id,
  webhook_id,
  state,
  total,
  delivered,
  failed,
  rate,
  created_at,
})

const holds = {
  webhook_disabled: 'the webhook is disabled',
  webhook_failing: 'the webhook is failing',
  workspace_suspended: 'the workspace is suspended',
} as const

const stateOf = ({ state, hold }: ConsoleReplay): string => (hold === null ? state : `${state} (${holds[hold]})`)

const whichEvents = { failed: 'that failed', missing: 'that were never delivered', all: 'all' } as const

const describe = (replay: ConsoleReplay): string[] => [
  `Replay     ${replay.id}`,
  `Webhook    ${replay.webhook_id}`,
  `State      ${stateOf(replay)}`,
  `Events     ${replay.total}${replay.counting ? ' or more, still counting' : ''}`,
  `Delivered  ${replay.delivered}`,
  `Failed     ${replay.failed}`,
  `Covers     ${whichEvents[replay.only]}, from ${formatTime(replay.since)} to ${formatTime(replay.until)}`,
  ...(replay.events ? [`Types      ${replay.events.join(' ')}`] : []),
  ...(replay.senders ? [`Senders    ${replay.senders.join(' ')}`] : []),
  `Rate       at most ${replay.rate} per second`,
  `Started    ${formatTime(replay.created_at)}`,
  ...(replay.ended_at ? [`Ended      ${formatTime(replay.ended_at)}`] : []),
]

function readRate(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`Invalid --rate "${text}". Enter a number of events per second.`)
  return Number(text)
}
