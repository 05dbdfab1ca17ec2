// Measures the longest wait of a webhook while a migration changes a million messages and builds an index: in one
// transaction, and in steps.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { type Migration, migrate, programVersion, readMigrations } from '@parley/server/db/migrate/migrate'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock as clock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import pg from 'pg'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { newApp, newSender, text, webhookOf } from '../../../server/testing/network-app.ts'
import { secretKeys, spawnService } from '../../../server/testing/service.ts'

const rows = 1_000_000

/** A webhook that waits this long is not a gap: the lock of a step is given up after 2 seconds. */
const maxWaitMs = 5_000

const change = (column: string, part: string) =>
  `update inbound_messages set ${column} = content ->> 'text' where ${part} ${column} is null and content ->> 'text' is not null`

const inOneTransaction = `alter table inbound_messages add column note text;
  ${change('note', '')};
  create index inbound_messages_by_note on inbound_messages (sender_id, note) where note is not null;`

const inSteps = `-- step: transaction
alter table inbound_messages add column other_note text;
-- New messages need no change.
alter table inbound_messages alter column other_note set default '';
-- step: batches of inbound_messages
${change('other_note', 'ctid >= $1 and ctid < $2 and')};
-- step: concurrently
create index concurrently inbound_messages_by_other_note on inbound_messages (sender_id, other_note) where other_note is not null;`

export const scenario = {
  name: 'online-migration',
  wanted: `a migration of a million rows keeps no webhook waiting for more than ${maxWaitMs / 1000} seconds`,
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const dataDir = newFolder('parley-reliability-')
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings: { max_wal_size: '8GB' } })
    const { connection } = embedded
    const migrations = readMigrations()
    await migrate(connection)
    const db = openDatabase(connection, () => {}, 3)
    const post = await prepare(db)
    say(`${rows} messages`)
    const service = await spawnService(connection)
    try {
      /** The longest wait of a webhook during `work`, how many there were, and how many were refused. */
      const measure = async (work: () => Promise<unknown>) => {
        const found = { longestMs: 0, posted: 0, refused: 0, tookMs: 0 }
        let isOver = false
        const writing = Array.from({ length: 4 }, async () => {
          while (!isOver) {
            const began = performance.now()
            // A webhook that waits for a minute loses its connection.
            if ((await post(service.url).catch(() => 0)) !== 200) found.refused++
            found.posted++
            found.longestMs = Math.max(found.longestMs, Math.round(performance.now() - began))
            await sleep(20)
          }
        })
        const began = performance.now()
        await work()
        found.tookMs = Math.round(performance.now() - began)
        isOver = true
        await Promise.all(writing)
        const { longestMs, posted, refused, tookMs } = found
        say(`${tookMs} ms, ${posted} webhooks, ${refused} refused, the longest waited ${longestMs} ms`)
        return found
      }
      say('in one transaction')
      const before = await measure(async () => {
        const client = new pg.Client(connection)
        await client.connect()
        await client.query(`begin; set local parley.workspace = 'all'; ${inOneTransaction} commit`)
        await client.end()
      })
      say('in steps')
      const next: Migration = { version: programVersion(migrations) + 1, name: 'in_steps.sql', text: inSteps }
      const onProgress = say
      const now = await measure(() => migrate(connection, [...migrations, next], { onProgress }))
      const left = await db.first<{ n: number }>(
        `select count(*)::int as n from inbound_messages where other_note is null and content ->> 'text' is not null`,
      )
      const ok = now.longestMs <= maxWaitMs && now.refused === 0 && left?.n === 0
      const figure = `the longest wait of a webhook: ${before.longestMs} ms in one transaction (${before.refused} refused), ${now.longestMs} ms in steps (${now.refused} refused)`
      return { figure, ok }
    } finally {
      await service.stop()
      await db.close()
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}

/** A million messages, and a function that posts one more as the network does. */
async function prepare(db: Database): Promise<(url: string) => Promise<number>> {
  const { id: workspaceId } = await createWorkspace(db, clock, 'Shop')
  const target = { url: '', db, clock, secretKeys }
  const app = await newApp(target)
  const { id: senderId, phoneNumberId } = await newSender(target, workspaceId, app.id, '99000000001')
  await db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, type, received_at, recorded_at, content)
     select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, 'wamid.' || n, 'text', now(), now(), jsonb_build_object('text', 'message ' || n)
     from generate_series(1, $3::int) as n`,
    [workspaceId, senderId, rows],
  )
  return (url) => app.post(webhookOf(phoneNumberId, [text(`wamid.${newUuid()}`)]), { url })
}
