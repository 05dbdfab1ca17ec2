// What removing the contents of old messages costs: 50,000 sent and 50,000 inbound messages of a hundred days, of which 70 days are
// too old. PostgreSQL gets little memory, so that neither the tables nor their indexes fit.

import { openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { removeOldContents } from '@parley/server/domain/privacy/content-retention'
import { systemClock } from '@parley/server/lib/clock'
import { newLogger } from '@parley/server/telemetry/logger'
import pg from 'pg'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'

const messages = 50_000
const days = 100
const keptDays = 30

/** IDs begin with the time, as ours do. The text of a message has 200 bytes. */
const generated = `select
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || substr(hash, 1, 16))::uuid as id,
    md5('workspace')::uuid as workspace_id, md5('sender')::uuid as sender_id, at,
    'wamid.HBgL' || encode(phone::bytea, 'base64') || 'FQIAEhgU' || substr(hash, 1, 28) as wa_message_id, phone,
    repeat('Hello! ', 28) as text
  from (select n, md5(random()::text) as hash, now() - make_interval(secs => ${days} * 86400.0 * (1 - n / ${messages}.0)) as at,
      '1650' || lpad((random() * random() * 400000)::int::text, 7, '0') as phone
    from generate_series(1, ${messages}) as n offset 0) as message`

const fill = `
  insert into workspaces (id, name, created_at) values (md5('workspace')::uuid, 'Shop', now());
  insert into apps (id, name, graph_url, app_secret_sealed, verify_token_sealed, created_at)
    values (md5('app')::uuid, 'app', 'http://127.0.0.1:9', '', '', now());
  insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
    values (md5('connection')::uuid, md5('workspace')::uuid, md5('app')::uuid, '1', '', now(), 'infinity');
  insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status, quality_rating, created_at, updated_at)
    values (md5('sender')::uuid, md5('workspace')::uuid, md5('connection')::uuid, md5('app')::uuid, '1', '1555', 'CONNECTED', 'GREEN', now(), now());
  insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, created_by, created_at)
    values (md5('key')::uuid, md5('workspace')::uuid, 'key', '', '', '{}', 30, 'test', now());
  insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, created_at, sent_at, delivered_at, read_at, key_id,
      type, credits, content)
    select id, workspace_id, sender_id, phone, 'read', wa_message_id, at, at, at, at, md5('key')::uuid, 'text', 1,
      json_build_object('request', json_build_object('to', phone, 'type', 'text', 'text', json_build_object('body', text)))
    from (${generated}) as generated order by at;
  insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, profile_name, type, received_at, recorded_at, content)
    select id, workspace_id, sender_id, wa_message_id, phone, 'Ana', 'text', at, at, json_build_object('text', text)
    from (${generated}) as generated order by at;`

export const scenario = {
  name: 'content-removal',
  wanted: 'old contents are removed, 1,000 sent and 1,000 inbound ones in less than 2 s; the next run reads nothing',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const dataDir = newFolder('parley-content-')
    const settings = { shared_buffers: '16MB', max_wal_size: '4GB', fsync: 'off' }
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings })
    const db = openDatabase(embedded.connection, () => {}, 2)
    const client = new pg.Client(embedded.connection)
    const admin = new pg.Client({ ...embedded.admin, database: embedded.connection.database })
    const counters = async () => {
      await client.query('select pg_stat_force_next_flush()')
      const { rows } = await client.query(`select pg_current_wal_insert_lsn() - '0/0' as wal,
        (select sum(seq_tup_read + idx_tup_fetch) from pg_stat_user_tables where relname in ('messages', 'inbound_messages')) as read,
        (select sum(n_tup_hot_upd) from pg_stat_user_tables where relname in ('messages', 'inbound_messages')) as hot`)
      return { wal: Number(rows[0].wal), read: Number(rows[0].read), hot: Number(rows[0].hot) }
    }
    try {
      await migrate(embedded.connection)
      await client.connect()
      await admin.connect()
      await client.query(`set parley.workspace = 'all'`)
      await client.query(fill)
      await client.query('vacuum analyze messages, inbound_messages')
      await admin.query('checkpoint')
      say(`${2 * messages} messages of ${days} days are stored`)
      const before = await counters()
      const began = performance.now()
      // Each run is one batch of each direction, so that the longest is known.
      let [removed, longestMs] = [0, 0]
      for (let last = 1; last > 0; ) {
        const batchBegan = performance.now()
        const { sent, received } = await removeOldContents(db, systemClock, newLogger('silent'), keptDays, {
          batch: 1_000,
          batches: 1,
        })
        last = sent + received
        removed += last
        longestMs = Math.max(longestMs, performance.now() - batchBegan)
      }
      const seconds = (performance.now() - began) / 1000
      const after = await counters()
      await removeOldContents(db, systemClock, newLogger('silent'), keptDays)
      const nextRun = (await counters()).read - after.read
      const { rows } = await client.query(`select count(*)::int as kept from (
        select 1 from messages where content_removed_at is null union all select 1 from inbound_messages where content_removed_at is null) as kept`)
      const perSecond = Math.round(removed / seconds)
      const walBytes = Math.round((after.wal - before.wal) / removed)
      const hot = Math.round((100 * (after.hot - before.hot)) / removed)
      const figure = `${removed} removed, ${perSecond} per second, ${walBytes} bytes of WAL each, ${hot}% without a change of an index, longest batch of both ${Math.round(longestMs)} ms; the next run read ${nextRun} rows; ${rows[0].kept} are kept`
      const expected = 2 * messages * (1 - keptDays / days)
      return { figure, ok: Math.abs(removed - expected) < expected / 100 && nextRun < 10 && longestMs < 2_000 }
    } finally {
      await client.end().catch(() => {})
      await admin.end().catch(() => {})
      await db.close()
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}
