import { setTimeout as sleep } from 'node:timers/promises'
import type { LoggedRequest, RequestFilters } from '@parley/contract/console/requests'
import { keyOptions, keyOrIdOption, readService } from '../by-key.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { followOptions } from '../follow-options.ts'
import { formatTime } from '../format.ts'
import { keepReading } from '../keep-reading.ts'
import { printJson, say, sayAside } from '../print.ts'
import { given, readCount, readTime } from '../read-options.ts'
import { styled } from '../style.ts'
import { table } from '../table.ts'
import { visible } from '../visible.ts'
import { readWorkspace } from '../workspace-option.ts'

/** The log is at most a second behind. */
const pollMs = 500
/** Late requests are found again: these are not printed twice. */
const rememberMax = 5_000

export const commands: readonly Command[] = [
  {
    name: 'logs',
    details:
      'The request log of a workspace: every request with its API keys, including rejected requests. With --follow, it runs until you press Ctrl+C; with --json, it then prints one request per line. The API has no route for it: with an API key, it says what an operator runs.',
    untilStopped: 'follow',
    options: {
      ...followOptions('requests', 'are made'),
      status: { value: 'STATUS', help: 'Only this status or class, such as 404 or 4xx; several separated by commas' },
      code: { value: 'CODE', help: 'Only this error code, such as rate_limited' },
      method: { value: 'METHOD', help: 'Only this method, such as POST' },
      path: { value: 'TEXT', help: 'Only paths with this text' },
      url: keyOptions.url,
      key: keyOrIdOption('only requests with that key'),
      since: { value: 'TIME', help: 'Only requests since this time' },
      limit: { value: 'N', help: 'How many, newest last, 1 to 100 (default: 20); not with --follow' },
    },
    examples: ['logs --follow', 'logs --status 4xx,5xx --limit 100', 'logs --code rate_limited --json'],
    run: (call) => (call.flag('follow') ? follow(call) : list(call)),
  },
]

async function list(call: Call) {
  const { requests, hasMore } = await (await openLog(call))(null, readCount(call, 'limit', 100) ?? 20)
  const rows = requests.map((each) => [
    each.id,
    formatTime(each.at),
    each.method,
    each.route,
    String(each.status),
    durationOf(each),
    each.code ?? '',
    each.key?.name ?? '',
  ])
  const headings = ['ID', 'TIME', 'METHOD', 'PATH', 'STATUS', 'DURATION', 'ERROR', 'KEY']
  return {
    lines: table(headings, rows, 'No requests.'),
    json: { object: 'list', data: requests, has_more: hasMore },
  }
}

async function follow(call: Call): Promise<undefined> {
  if (call.option('limit') !== undefined) throw new UsageError('--limit cannot be used with --follow.')
  const read = await openLog(call)
  const seen = new Set<string>()
  let { newest, requests } = await read(null, 100)
  // Requests of the first list are not new, even if they are found again.
  for (const { id } of requests) seen.add(id)
  sayAside('Requests of the workspace. Press Ctrl+C to stop.')
  await keepReading(call.stopped, async () => {
    ;({ newest, requests } = await read(newest, 100))
    for (const request of requests.filter(({ id }) => !seen.has(id))) {
      seen.add(request.id)
      if (call.flag('json')) printJson(request)
      else say(lineOf(request))
    }
    for (const id of seen) {
      if (seen.size <= rememberMax) break
      seen.delete(id)
    }
    await sleep(pollMs, undefined, { signal: call.stopped }).catch(() => {})
  })
  return undefined
}

/** A function that reads matching requests, oldest first; with a position, those after it. */
async function openLog(call: Call) {
  await refuseKey(call)
  const filters = await readFilters(call)
  const [{ listKeys }, { searchRequests }, { id }] = await Promise.all([
    import('@parley/server/domain/keys/keys'),
    import('@parley/server/domain/requests/console'),
    readWorkspace(call),
  ])
  const db = (await call.db()).within(id)
  const keys = new Map((await listKeys(db, id)).map((key) => [key.id, key]))
  return async (after: { at: Date; id: string } | null, limit: number) => {
    const { data, newest, has_more } = await searchRequests(db, id, keys, filters, { limit, before: null, after })
    return { requests: data.toReversed(), newest, hasMore: has_more }
  }
}

/** The log is for operators and the console. */
async function refuseKey(call: Call): Promise<void> {
  const service = readService(call, 'keyOrId')
  if (!service) return
  const { newClient, operatorRuns } = await import('../key-source.ts')
  const filters = ['status', 'code', 'method', 'path', 'since', 'limit'].flatMap((name) => {
    const text = call.option(name)
    return text === undefined ? [] : [`--${name}`, text]
  })
  const words = ['logs', ...(call.flag('follow') ? ['--follow'] : []), ...filters]
  await operatorRuns(newClient(service), 'read the request log', words)
}

async function readFilters({ option }: Call): Promise<RequestFilters> {
  const [{ newValidator }, { RequestFilters }] = await Promise.all([
    import('@parley/server/lib/field-errors'),
    import('@parley/contract/console/requests'),
  ])
  const since = option('since')
  const filters = given({
    status: option('status'),
    code: option('code'),
    method: option('method')?.toUpperCase(),
    route: option('path'),
    key: option('key'),
    from: since && readTime('since', since).toISOString(),
  })
  const [error] = newValidator(RequestFilters, 'query')(filters)
  if (error)
    throw new UsageError(`Invalid option --${error.param === 'route' ? 'path' : error.param}. ${error.message}`)
  return filters as RequestFilters
}

const durationOf = ({ duration_us }: LoggedRequest): string => `${Math.round(duration_us / 1000)} ms`

function lineOf(request: LoggedRequest): string {
  const look = request.status < 400 ? 'green' : request.status < 500 ? 'yellow' : 'red'
  return [
    styled('dim', formatTime(request.at)),
    styled(look, String(request.status)),
    request.method,
    styled('bold', visible(request.route)),
    durationOf(request),
    request.code ?? '',
    visible(request.key?.name ?? ''),
    styled('dim', request.id),
  ]
    .filter((part) => part !== '')
    .join('  ')
}
