import { keyOptions } from '../by-key.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { readTypes } from '../event-feed.ts'
import { followOptions } from '../follow-options.ts'
import { formatTime } from '../format.ts'
import { openSource } from '../open-source.ts'
import { printJson, say, sayAside } from '../print.ts'
import { program } from '../program.ts'
import { given, readCount, readList } from '../read-options.ts'
import { styled } from '../style.ts'
import { table } from '../table.ts'
import { visible } from '../visible.ts'

export const commands: readonly Command[] = [
  {
    name: 'events',
    details:
      'As GET /v1/events: oldest first, beginning after a cursor. Each page ends with the cursor of the next one. With --follow, it begins with new events and runs until you press Ctrl+C; then it prints the cursor to continue from. With --json and --follow, it prints one event per line.',
    untilStopped: 'follow',
    options: {
      ...followOptions('events', 'happen'),
      after: { value: 'CURSOR', help: 'Begin after this cursor; "latest" begins now (default: the oldest event)' },
      event: { value: 'EVENT', repeated: true, help: 'Only events of this type' },
      ...keyOptions,
      limit: { value: 'N', help: 'Events per page, 1 to 1000 (default: 100); not with --follow' },
    },
    examples: ['events --event message.received', 'events --follow', 'events --follow --after CURSOR --json'],
    run: (call) => (call.flag('follow') ? follow(call) : readPage(call)),
  },
]

interface Envelope {
  id: string
  type: string
  created_at: string
  data: Record<string, unknown>
}

async function readPage(call: Call) {
  const { option } = call
  const query = { type: readTypes(call), after: option('after'), limit: readCount(call, 'limit', 1000) }
  const source = await openSource(call)
  const feed = await source.openFeed(call.stopped)
  try {
    const { bodies, hasMore, nextCursor } = await feed.read(given(query))
    const events = bodies.map((body) => JSON.parse(body.toString()) as Envelope)
    const rows = events.map((event) => [event.id, formatTime(event.created_at), event.type, summaryOf(event)])
    const more = `${hasMore ? 'More' : 'To continue later'}: ${continuation(call, nextCursor)}`
    return {
      lines: [...table(['ID', 'TIME', 'TYPE', 'ABOUT'], rows, 'No events.'), '', styled('dim', more)],
      json: { object: 'list', data: events, has_more: hasMore, next_cursor: nextCursor },
    }
  } finally {
    await feed.close()
  }
}

async function follow(call: Call): Promise<undefined> {
  const { option, flag } = call
  if (option('limit') !== undefined) throw new UsageError('--limit cannot be used with --follow.')
  const types = readTypes(call)
  const source = await openSource(call)
  const feed = await source.openFeed(call.stopped)
  try {
    const after = option('after') ?? (await feed.read({ after: 'latest', limit: 1 })).nextCursor
    sayAside(`Events of ${await source.title()}. Press Ctrl+C to stop.`)
    const cursor = await feed.follow({ after, types }, async (body) => {
      const event = JSON.parse(body.toString()) as Envelope
      if (flag('json')) printJson(event)
      else say(lineOf(event))
    })
    sayAside(`To continue: ${continuation(call, cursor)}`)
  } finally {
    await feed.close()
  }
  return undefined
}

/** The command that reads on after the cursor, with the same options. */
function continuation(call: Call, cursor: string): string {
  const { option, flag } = call
  const [workspace, url, limit] = [option('workspace'), option('url'), option('limit')]
  const words = [
    ...(flag('follow') ? ['--follow'] : []),
    ...(workspace === undefined ? [] : ['--workspace', workspace]),
    ...(url === undefined ? [] : ['--url', url]),
    ...readList(call, 'event').flatMap((type) => ['--event', type]),
    ...(limit === undefined ? [] : ['--limit', limit]),
  ]
  return [`${program.name} events`, ...words, '--after', cursor].join(' ')
}

const lineOf = (event: Envelope): string =>
  [styled('dim', formatTime(event.created_at)), styled('bold', event.type), event.id, visible(summaryOf(event))]
    .join('  ')
    .trimEnd()

/** What an event is about, in a few words. */
function summaryOf({ data }: Envelope): string {
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : undefined)
  const who = text('from') ? `from ${text('from')}` : text('to') ? `to ${text('to')}` : undefined
  const what = text('message_id') ?? text('template_id') ?? text('sender_id') ?? text('webhook_id')
  return [who, what].filter(Boolean).join(' ')
}
