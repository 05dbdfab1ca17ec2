import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { newUuid } from '@parley/server/lib/ids'
import { putUnderLoad } from './lib/load.ts'
import { watchNoise } from './lib/noise.ts'
import { numberAt, postOf, prepare } from './lib/prepare.ts'
import type { Target } from './lib/process.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { addCounts } from './lib/statistics.ts'
import type { Row } from './lib/table.ts'

const workspaces = 40
const connections = 32
const messages = numberSetting('BENCH_MESSAGES', 8_000)
const rounds = numberSetting('BENCH_ROUNDS', 2)
/** In the order in which the network reports them. `sent` is known from the send request, and brings the price. */
const statuses = ['sent', 'delivered', 'read'] as const
/** More messages than a page has. Not a divisor of the number of workspaces, so that all take part. */
const sparseStep = 41
/** PostgreSQL publishes what a connection has counted at the latest after this time. */
const countedMs = 1_500

const figures = {
  perSecond: { what: 'statuses', unit: 'statuses/s' },
  processUs: { what: 'CPU of the process for a status', unit: 'µs' },
  postgresUs: { what: 'CPU of PostgreSQL for a status', unit: 'µs' },
  walBytes: { what: 'WAL for a status', unit: 'bytes' },
  commits: { what: 'commits for a status', unit: '' },
  heapOnly: { what: 'heap-only updates of messages', unit: '%' },
} as const

type Figures = Record<keyof typeof figures, number>

/**
 * The three statuses of each message that forty workspaces have sent: verified, stored and published as an event with a
 * delivery before the response. Measures what a status costs: CPU of the process and of PostgreSQL, WAL, commits.
 */
export async function benchStatuses(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const receiver = await scope.startTarget('slow-receiver', '2000')
  const hookUrls = Array<string>(workspaces).fill(`http://127.0.0.1:${receiver.port}/`)
  const { appId } = await prepare(dataDir, { hookUrls, events: statuses.map((status) => `message.${status}`) })
  const target = await scope.startTarget('parley', dataDir)
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  scope.defer(() => embedded.close())
  const db = openDatabase(embedded.connection, () => {}, 1)
  scope.defer(() => db.close())
  const admin = openDatabase({ ...embedded.admin, database: embedded.connection.database }, () => {}, 1)
  scope.defer(() => admin.close())

  const noise = watchNoise()
  const measured = new Map<string, Figures[]>()
  const measure = async (part: string, sent: readonly Sent[], size: number) => {
    scope.say(part)
    measured.set(part, [...(measured.get(part) ?? []), await measureOne(scope, target, db, appId, size, sent)])
  }
  await measureOne(scope, target, db, appId, 10, await seedSent(db, 1_000))
  for (let round = 0; round < rounds; round++) {
    for (const size of [1, 10, 100]) await measure(`${size} per webhook`, await seedSent(db, messages), size)
    // As with little traffic: PostgreSQL writes a whole page to the WAL when it changes for the first time after a checkpoint.
    const sparse = (await seedSent(db, messages)).filter((_, index) => index % sparseStep === 0)
    await admin.script('checkpoint')
    await measure('after a checkpoint, few per page', sparse, 1)
  }
  const share = noise()
  return [...measured].flatMap(([part, each]) =>
    Object.entries(figures).map(([name, { what, unit }]) => ({
      what: `${what}, ${part}`,
      unit,
      rounds: each.map((one) => one[name as keyof Figures]),
      noise: share,
    })),
  )
}

/** Posts all statuses of messages, `size` in each webhook. Returns what they cost. */
async function measureOne(
  scope: Scope,
  target: Target,
  db: Db,
  appId: string,
  size: number,
  sent: readonly Sent[],
): Promise<Figures> {
  const before = await counted(target, db)
  let seconds = 0
  const responses: Record<string, number>[] = []
  for (const status of statuses) {
    const requests = webhooksOf(appId, sent, status, size)
    const load = { port: target.port, connections, seconds: 300, requests, once: true }
    const measured = await putUnderLoad(load)
    seconds += requests.length / measured.perSecond
    responses.push(measured.statuses)
  }
  const all = addCounts(responses)
  if (Object.keys(all).join() !== '200') scope.fault(`responses ${JSON.stringify(all)}`)
  const after = await counted(target, db)
  const total = sent.length * statuses.length
  const each = (name: keyof typeof before) => (after[name] - before[name]) / total
  return {
    perSecond: total / seconds,
    processUs: each('processUs'),
    postgresUs: each('postgresUs'),
    walBytes: each('walBytes'),
    commits: each('commits'),
    heapOnly: ((after.heapOnly - before.heapOnly) / (after.updates - before.updates)) * 100,
  }
}

interface Sent {
  id: string
  waMessageId: string
  /** The index of its workspace. */
  number: number
}

/** Messages of all workspaces in turn, as the response of the send request leaves them. */
async function seedSent(db: Db, count: number): Promise<Sent[]> {
  const sent = Array.from({ length: count }, (_, index) => {
    const id = newUuid()
    const waMessageId = `wamid.HBgLMTY1MDU1NTAxMjMVAgARGBI${id.replaceAll('-', '').toUpperCase()}AA==`
    return { id, waMessageId, number: index % workspaces }
  })
  await db.change(
    `with sent as (
       insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, created_at, sent_at, sent_by,
         type, credits, content)
       select m.id, s.workspace_id, s.id, (16505550000 + m.n)::text, 'sent', m.wa_message_id, now(), now(), 'bench', 'text',
         1, json_build_object('request', json_build_object('to', 16505550000 + m.n, 'type', 'text', 'text',
           json_build_object('body', 'Your parcel number ' || m.n || ' is on its way and arrives today.')))
       from unnest($1::uuid[], $2::text[]) with ordinality as m(id, wa_message_id, n)
       join (select *, row_number() over (order by phone_number_id) - 1 as n from senders) as s on s.n = (m.n - 1) % $3
       order by m.n
       returning id, workspace_id, sent_at
     )
     insert into message_statuses (message_id, workspace_id, status, occurred_at)
     select id, workspace_id, 'sent', sent_at from sent`,
    [sent.map(({ id }) => id), sent.map(({ waMessageId }) => waMessageId), workspaces],
  )
  return sent
}

/** Webhooks that have `size` statuses of one number each. */
function webhooksOf(appId: string, sent: readonly Sent[], status: (typeof statuses)[number], size: number): Buffer[] {
  const timestamp = String(Math.trunc(Date.now() / 1000))
  const pricing = { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' }
  const webhooks = [...Map.groupBy(sent, ({ number }) => number)].flatMap(([number, own]) => {
    const reports = own.map(({ id, waMessageId }) => ({
      id: waMessageId,
      status,
      timestamp,
      recipient_id: '16505550123',
      biz_opaque_callback_data: `msg_${id}`,
      ...(status === 'read' ? {} : { pricing }),
    }))
    return Array.from({ length: Math.ceil(own.length / size) }, (_, nth) => ({
      at: nth * workspaces + number,
      request: postOf(appId, numberAt(number), { statuses: reports.slice(nth * size, (nth + 1) * size) }),
    }))
  })
  return webhooks.sort((left, right) => left.at - right.at).map(({ request }) => request)
}

async function counted(target: Target, db: Db) {
  await sleep(countedMs)
  const row = await db.first<Record<'walBytes' | 'commits' | 'updates' | 'heapOnly', number>>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes",
       d.xact_commit as commits, t.n_tup_upd as updates, t.n_tup_hot_upd as "heapOnly"
     from pg_stat_database d, pg_stat_user_tables t
     where d.datname = current_database() and t.relname = 'messages'`,
  )
  if (!row) throw new Error('PostgreSQL has no statistics of the table messages')
  const processUs = target.cpuUs()
  return { ...row, processUs, postgresUs: target.treeCpuUs() - processUs }
}
