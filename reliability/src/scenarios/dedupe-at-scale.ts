// What recognizing repeated webhooks costs when the messages of a hundred days are stored: first all of them in one
// table, then only the recent ones, after the older ones were moved. PostgreSQL gets little memory, so that the ratio of indexes
// to memory is that of a hundred million messages and a few gigabytes.

import { openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { moveLimits, moveOlderMessages } from '@parley/server/domain/messages/receiving/older-messages'
import type { Clock } from '@parley/server/lib/clock'
import { newLogger } from '@parley/server/telemetry/logger'
import pg from 'pg'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'

const messages = 300_000
const days = 100
const inserted = 6_000
const batch = 120

const systemClock: Clock = { now: () => new Date(), pinned: () => null, machine: () => new Date() }

const columns = `id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content`

/**
 * Messages from 400,000 people, the first ones more active than the others. As in the network's IDs, the person comes first and
 * the rest is random.
 */
const generated = (count: string, from: string, seconds: string) => `select
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || substr(hash, 1, 16))::uuid,
    md5('w' || n % 20)::uuid, md5('s' || n % 20)::uuid,
    'wamid.HBgL' || encode(phone::bytea, 'base64') || 'FQIAEhgU' || substr(hash, 1, 28), phone, 'text', at, at,
    '{"text":"I would like to know when my parcel arrives, please."}'::json
  from (select n, md5(random()::text) as hash, ${from} + make_interval(secs => ${seconds}::float8 * n / ${count}) as at,
      '1650' || lpad((random() * random() * 400000)::int::text, 7, '0') as phone
    from generate_series(1, ${count}) as n offset 0) as message`

interface Cost {
  indexBytes: number
  reads: number
  walBytes: number
  perSecond: number
}

async function costOfInserting(client: pg.Client, admin: pg.Client): Promise<Cost> {
  await client.query(`create temp table arrivals (like inbound_messages); alter table arrivals add n serial;
    insert into arrivals (${columns}) ${generated(String(inserted), 'now()', '60')}; create index on arrivals (n)`)
  await admin.query('checkpoint')
  const counters = async () => {
    await client.query('select pg_stat_force_next_flush()')
    const { rows } = await client.query(`select pg_current_wal_insert_lsn() - '0/0' as wal,
      (select sum(idx_blks_read) from pg_statio_user_indexes where relname = 'inbound_messages') as reads`)
    return { wal: Number(rows[0].wal), reads: Number(rows[0].reads) }
  }
  const before = await counters()
  const began = performance.now()
  for (let at = 0; at < inserted; at += batch) {
    await client.query({
      name: 'insert',
      text: `insert into inbound_messages (${columns}) select ${columns} from arrivals where n > $1 and n <= $1 + ${batch}
        order by sender_id, wa_message_id on conflict (sender_id, wa_message_id) do nothing`,
      values: [at],
    })
  }
  const seconds = (performance.now() - began) / 1000
  const after = await counters()
  const { rows } = await client.query(
    `select pg_relation_size('inbound_messages_sender_id_wa_message_id_key') as bytes`,
  )
  await client.query('drop table arrivals')
  return {
    indexBytes: Number(rows[0].bytes),
    reads: (after.reads - before.reads) / inserted,
    walBytes: (after.wal - before.wal) / inserted,
    perSecond: inserted / seconds,
  }
}

/** Fills the table without its indexes and creates them afterwards, which is faster. */
async function fill(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string; isConstraint: boolean }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition,
       exists (select from pg_constraint where conindid = indexrelid) as "isConstraint"
     from pg_index where indrelid = 'inbound_messages'::regclass and not indisprimary`,
  )
  for (const { name, isConstraint } of rows) {
    await client.query(isConstraint ? `alter table inbound_messages drop constraint ${name}` : `drop index ${name}`)
  }
  const seconds = days * 86_400
  await client.query(
    `insert into inbound_messages (${columns}) ${generated(String(messages), `now() - make_interval(secs => ${seconds})`, String(seconds))}`,
  )
  for (const { name, definition, isConstraint } of rows) {
    await client.query(definition)
    if (isConstraint)
      await client.query(`alter table inbound_messages add constraint ${name} unique using index ${name}`)
  }
  await client.query('vacuum analyze inbound_messages')
}

const describe = ({ indexBytes, reads, walBytes, perSecond }: Cost): string =>
  `${(indexBytes / messages).toFixed(1)} bytes of unique index per stored message, ${reads.toFixed(2)} index pages read and ${Math.round(walBytes)} bytes of WAL per new message, ${Math.round(perSecond)} new messages per second`

export const scenario = {
  name: 'dedupe-at-scale',
  wanted:
    'the index that recognizes repeated messages does not grow with the stored messages; a new message reads less than half the index pages',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const dataDir = newFolder('parley-dedupe-')
    const settings = { shared_buffers: '16MB', max_wal_size: '4GB', fsync: 'off', autovacuum: 'off' }
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings })
    const db = openDatabase(embedded.connection, () => {}, 2)
    const client = new pg.Client(embedded.connection)
    const admin = new pg.Client({ ...embedded.admin, database: embedded.connection.database })
    try {
      await migrate(embedded.connection)
      await client.connect()
      await admin.connect()
      await client.query(`set parley.workspace = 'all'`)
      await fill(client)
      say(`${messages} messages of ${days} days are stored`)
      const before = await costOfInserting(client, admin)
      say(`in one table: ${describe(before)}`)
      const limits = { ...moveLimits, recentBytes: 0, batches: Number.POSITIVE_INFINITY }
      const quiet = newLogger('silent')
      await moveOlderMessages(db, systemClock, quiet, limits)
      const began = performance.now()
      const moved = await moveOlderMessages(db, systemClock, quiet, limits)
      say(`moved ${moved} older messages, ${Math.round((moved / (performance.now() - began)) * 1000)} per second`)
      await client.query('vacuum inbound_messages')
      await client.query('reindex table concurrently inbound_messages')
      const after = await costOfInserting(client, admin)
      say(`recent ones only: ${describe(after)}`)
      const { rows } = await client.query(`with repeated as (
          insert into inbound_messages (${columns})
          select gen_random_uuid(), workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content
          from only inbound_messages where recorded_at > now() - interval '9 days'
          on conflict (sender_id, wa_message_id) do nothing returning 1
        ) select (select count(*) from repeated) as stored, (select count(*) from inbound_messages) as total`)
      const [stored, total] = [Number(rows[0].stored), Number(rows[0].total)]
      say(`all messages of the last nine days repeated: ${stored} were stored again; ${total} messages in total`)
      return {
        figure: `${(before.indexBytes / messages).toFixed(0)} → ${(after.indexBytes / messages).toFixed(0)} bytes per stored message, ${Math.round(before.perSecond)} → ${Math.round(after.perSecond)} messages/s, ${before.reads.toFixed(2)} → ${after.reads.toFixed(2)} pages read each`,
        ok:
          stored === 0 &&
          total === messages + 2 * inserted &&
          after.indexBytes * 4 < before.indexBytes &&
          after.reads * 2 < before.reads,
      }
    } finally {
      await client.end().catch(() => {})
      await admin.end().catch(() => {})
      await db.close()
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}
