import type { Db } from '@parley/server/db/db'
import { createKey } from '@parley/server/domain/keys/keys'
import { writeCursor } from '@parley/server/http/page'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { firstPerson, rareType, seedInbound } from './inbound-seed.ts'
import { inTurn, rowOf } from './lib/in-turn.ts'
import { type Measured, putUnderLoad } from './lib/load.ts'
import { prepare } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { formatNumber, type Row } from './lib/table.ts'

const few = 100_000
const many = numberSetting('BENCH_INBOUND', 1_000_000)
const rounds = numberSetting('BENCH_ROUNDS', 3)
const requestsEach = 200
/** A key has 100 requests a minute. */
const keyCount = 200
const senderCount = 10
/** How long a list may take with many messages, compared with few. */
const atMost = 1.5

interface Installation {
  port: number
  secrets: readonly string[]
  /** The path of each request that is measured, by its name. */
  paths: ReadonlyMap<string, string>
}

/** `GET /v1/inbound_messages` with 100,000 and with a million messages stored, in two installations that take turns. */
export async function benchInbound(scope: Scope): Promise<Row[]> {
  if (many <= few) throw new Error(`BENCH_INBOUND must be above ${few}.`)
  const [fewer, more] = [few, many].map((count) => `${formatNumber(count)} stored`) as [string, string]
  const installations = new Map<string, Installation>()
  for (const [name, count] of [
    [fewer, few],
    [more, many],
  ] as const) {
    installations.set(name, await startInstallation(scope, count))
  }
  let used = 0

  async function measure(name: string, what: string): Promise<Measured> {
    const { port, secrets, paths } = installations.get(name) as Installation
    const requests = Array.from({ length: requestsEach }, () => {
      const secret = secrets[used++ % secrets.length]
      return Buffer.from(
        `GET ${paths.get(what)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
      )
    })
    const measured = await putUnderLoad({ port, connections: 1, seconds: 600, requests, once: true })
    const { statuses } = measured
    if (statuses['200'] !== requestsEach) scope.fault(`${what}, ${name}: ${JSON.stringify(statuses)}`)
    return measured
  }

  const rows: Row[] = []
  for (const what of installations.get(more)?.paths.keys() ?? []) {
    for (const name of [fewer, more]) await measure(name, what)
    const measured = await inTurn([fewer, more], rounds, (name) => measure(name, what))
    const compared = { subject: more, base: fewer, unit: 'ms', target: { atMost } }
    rows.push(
      rowOf(measured, ({ p50Ms }) => p50Ms, { ...compared, what: `${what}, p50` }),
      rowOf(measured, ({ p99Ms }) => p99Ms, { ...compared, what: `${what}, p99` }),
    )
    scope.say(`${what}: ${formatNumber(measured.of(more)[0]?.p50Ms ?? Number.NaN)} ms`)
  }
  return rows
}

async function startInstallation(scope: Scope, count: number): Promise<Installation> {
  const dataDir = scope.newFolder()
  const { appId, workspaces } = await prepare(dataDir, { hookUrls: [null] })
  const workspaceId = workspaces[0]?.id ?? ''
  const { senders, secrets } = await scope.part(async (part) => {
    const { db } = await part.openStore(dataDir)
    return { senders: await addSenders(db, workspaceId, appId), secrets: await addKeys(db, workspaceId) }
  })
  scope.say(`storing ${formatNumber(count)} messages`)
  await seedInbound(scope, dataDir, { workspaceId, senders }, count)
  const paths = await scope.part(async (part) => pathsOf((await part.openStore(dataDir)).db, senders))
  const { port } = await scope.startTarget('parley', dataDir)
  return { port, secrets, paths }
}

async function addSenders(db: Db, workspaceId: string, appId: string): Promise<string[]> {
  const senders = Array.from({ length: senderCount }, () => newUuid())
  await db.change(
    `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status, quality_rating,
       created_at, updated_at)
     select s.id, c.workspace_id, c.id, $3, 2000 + n, 15550790000 + n, 'CONNECTED', 'GREEN', now(), now()
     from connections c, unnest($1::uuid[]) with ordinality as s(id, n) where c.workspace_id = $2`,
    [senders, workspaceId, appId],
  )
  return senders
}

async function addKeys(db: Db, workspaceId: string): Promise<string[]> {
  const secrets: string[] = []
  for (let number = 0; number < keyCount; number++) {
    const key = {
      workspaceId,
      name: `reader ${number}`,
      scopes: ['inbound:read'],
      rateLimitPerMin: 100,
      createdBy: 'bench',
    }
    secrets.push((await createKey(db, systemClock, key)).secret)
  }
  return secrets
}

/** The lists that are measured, and one message. */
async function pathsOf(db: Db, senders: readonly string[]): Promise<Map<string, string>> {
  const [middle] = await db.rows<{ at: Date; id: string }>(
    `select recorded_at as at, id from inbound_messages
     where recorded_at >= (select min(recorded_at) + (max(recorded_at) - min(recorded_at)) / 2 from inbound_messages)
     order by recorded_at, id limit 1`,
  )
  if (!middle) throw new Error('no messages are stored')
  const list = (query: Record<string, string> = {}) => {
    const text = new URLSearchParams(query).toString()
    return `/v1/inbound_messages${text === '' ? '' : `?${text}`}`
  }
  const hour = {
    received_after: middle.at.toISOString(),
    received_before: new Date(middle.at.getTime() + 3_600_000).toISOString(),
  }
  const sender_id = `snd_${senders[3]}`
  return new Map([
    ['first page', list()],
    ['page in the middle', list({ cursor: writeCursor(middle) })],
    ['100 messages, oldest first', list({ order: 'asc', limit: '100' })],
    ['of one sender of ten', list({ sender_id })],
    ['of one sender, page in the middle', list({ sender_id, cursor: writeCursor(middle) })],
    ['of one person', list({ from: String(firstPerson + 7) })],
    [`of a type that one in ${formatNumber(rareType.interval)} has`, list({ type: rareType.name })],
    ['of one hour in the middle', list(hour)],
    ['of one sender, one type and one hour', list({ sender_id, type: 'text', ...hour })],
    ['one message', `/v1/inbound_messages/msg_${middle.id}`],
  ])
}
