import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { newUuid } from '@parley/server/lib/ids'
import { putUnderLoad } from './load.ts'
import { numberAt, postOf, prepare } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

const workspaces = 40
const connections = 32
const messages = Number(process.env.BENCH_MESSAGES ?? 8_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 2)
/** In the order in which the network reports them. `sent` is known from the send request, and brings the price. */
const statuses = ['sent', 'delivered', 'read'] as const
/** More messages than a page has. Not a divisor of the number of workspaces, so that all take part. */
const sparseStep = 41
/** PostgreSQL publishes what a connection has counted at the latest after this time. */
const countedMs = 1_500

/**
 * The three statuses of each message that forty workspaces have sent: verified, stored and published as an event with a
 * delivery before the response. Prints what a status costs: CPU of the process and of PostgreSQL, WAL, commits.
 */
export async function benchStatuses(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const receiver = await startTarget('slow-receiver')
  try {
    const hooks = Array(workspaces).fill(`http://127.0.0.1:${receiver.port}/`)
    const appId = await prepare(dataDir, hooks, [...statuses.map((status) => `message.${status}`)])
    const target = await startTarget('parley', dataDir)
    try {
      await measureAll(target, appId, dataDir)
    } finally {
      await target.stop()
    }
  } finally {
    await receiver.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function measureAll(target: Target, appId: string, dataDir: string): Promise<void> {
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  const db = openDatabase(embedded.connection, () => {}, 1)
  const admin = openDatabase({ ...embedded.admin, database: embedded.connection.database }, () => {}, 1)
  try {
    await measure(target, db, appId, 10, await seedSent(db, 1_000))
    for (let round = 0; round < rounds; round++) {
      for (const size of [1, 10, 100]) {
        console.log(`${size} per webhook: ${await measure(target, db, appId, size, await seedSent(db, messages))}`)
      }
      // As with little traffic: PostgreSQL writes a whole page to the WAL when it changes for the first time after a checkpoint.
      const sparse = (await seedSent(db, messages)).filter((_, index) => index % sparseStep === 0)
      await admin.script('checkpoint')
      console.log(`after a checkpoint, few per page: ${await measure(target, db, appId, 1, sparse)}`)
    }
  } finally {
    await db.close()
    await admin.close()
    await embedded.close()
  }
}

/** Posts all statuses of messages, `size` in each webhook. Returns what they cost. */
async function measure(target: Target, db: Db, appId: string, size: number, sent: readonly Sent[]): Promise<string> {
  const before = await counted(target, db)
  let seconds = 0
  const responses: Record<string, number> = {}
  for (const status of statuses) {
    const requests = webhooksOf(appId, sent, status, size)
    const load = { port: target.port, connections, seconds: 300, requests, once: true }
    const measured = await putUnderLoad(load)
    seconds += requests.length / measured.perSecond
    for (const [name, times] of Object.entries(measured.statuses)) responses[name] = (responses[name] ?? 0) + times
  }
  const after = await counted(target, db)
  const total = sent.length * statuses.length
  const each = (name: keyof typeof before) => (after[name] - before[name]) / total
  const heapOnly = (after.heapOnly - before.heapOnly) / (after.updates - before.updates)
  return [
    `${(total / seconds).toFixed(0)} statuses/s`,
    `CPU ${each('processUs').toFixed(0)} µs and PostgreSQL ${each('postgresUs').toFixed(0)} µs per status`,
    `WAL ${each('walBytes').toFixed(0)} bytes and ${each('fullPages').toFixed(3)} full pages`,
    `${each('commits').toFixed(3)} commits`,
    `${(heapOnly * 100).toFixed(0)} % of the updates heap-only`,
    `responses ${JSON.stringify(responses)}`,
  ].join(', ')
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
  const row = await db.first<Record<'walBytes' | 'fullPages' | 'commits' | 'updates' | 'heapOnly', number>>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes", w.wal_fpi as "fullPages",
       d.xact_commit as commits, t.n_tup_upd as updates, t.n_tup_hot_upd as "heapOnly"
     from pg_stat_wal w, pg_stat_database d, pg_stat_user_tables t
     where d.datname = current_database() and t.relname = 'messages'`,
  )
  if (!row) throw new Error('PostgreSQL has no statistics of the table messages')
  const processUs = target.cpuUs()
  return { ...row, processUs, postgresUs: target.treeCpuUs() - processUs }
}
