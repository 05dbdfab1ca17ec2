import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../../testing/database.ts'
import { addRows, asSuperuser, baseNameOf, query, readTables } from '../../testing/filled-database.ts'
import type { Connection } from './db.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'
import { readSteps } from './migration-steps.ts'

/** Migration 0009 repairs what 0006 and 0007 skipped. Tested on each kind of database that it can be applied to. */
const migrations = readMigrations()
const repair = migrations.find((migration) => baseNameOf(migration) === 'repair_skipped_rows') as Migration
const before = migrations.slice(0, repair.version - 1)

/** Applies a migration as older versions did: without parley.workspace, so that it sees no rows. */
async function applyWithRowsHidden(connection: Connection, migration: Migration): Promise<void> {
  const { version, name } = migration
  const client = new pg.Client(connection)
  await client.connect()
  try {
    // Batches would change no row.
    for (const step of readSteps(migration)) if (step.kind !== 'batches') await client.query(step.text)
    await client.query('insert into migrations (version, name) values ($1, $2)', [version, name])
  } finally {
    await client.end()
  }
}

/**
 * A database at the version before the repair with rows of version 5, which the later migrations either skipped or not.
 */
async function databaseWith(rows: 'hidden' | 'visible'): Promise<Connection> {
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  for (const migration of before) {
    if (rows === 'hidden' && migration.version > 5) await applyWithRowsHidden(connection, migration)
    else await migrate(connection, before.slice(0, migration.version))
    if (migration.version <= 5) await addRows(connection, migration)
  }
  return connection
}

const days = (connection: Connection) =>
  query(
    asSuperuser(connection),
    `select w.name, day::text, spent::int, refunded::int from credit_days d join workspaces w on w.id = d.workspace_id
     order by w.name, day`,
  )

const quotes = (connection: Connection, table: string) =>
  query(
    asSuperuser(connection),
    `select wa_message_id as id, quoted_wa_message_id as quoted from ${table} order by wa_message_id, workspace_id`,
  )

// The expected results for the rows of server/testing/filled/sending.sql and network.sql.
const ledgerDays = [
  { name: 'Workspace 1', day: '2026-03-01', spent: 7, refunded: 3 },
  { name: 'Workspace 1', day: '2026-03-02', spent: 2, refunded: 0 },
  { name: 'Workspace 2', day: '2026-03-01', spent: 14, refunded: 6 },
  { name: 'Workspace 2', day: '2026-03-02', spent: 4, refunded: 0 },
]
const quotesIn = [
  { id: 'wamid.in.1', quoted: null },
  { id: 'wamid.in.1', quoted: null },
  { id: 'wamid.in.2', quoted: 'wamid.out' },
  { id: 'wamid.in.2', quoted: 'wamid.out' },
]
const quotesOut = [
  { id: 'wamid.out.1', quoted: null },
  { id: 'wamid.out.1', quoted: null },
  { id: 'wamid.out.2', quoted: 'wamid.in.1' },
  { id: 'wamid.out.2', quoted: 'wamid.in.1' },
]

test('the repair adds the credit days and the quotes of rows that were skipped', async () => {
  const connection = await databaseWith('hidden')
  expect(await days(connection)).toEqual([])
  expect((await quotes(connection, 'inbound_messages')).filter((row) => Object.values(row)[1])).toEqual([])

  await migrate(connection, [...before, repair])
  expect(await days(connection)).toEqual(ledgerDays)
  expect(await quotes(connection, 'inbound_messages')).toEqual(quotesIn)
  expect(await quotes(connection, 'messages')).toEqual(quotesOut)
})

test('the repair changes nothing in a database whose rows were migrated', async () => {
  const connection = await databaseWith('visible')
  expect(await days(connection)).toEqual(ledgerDays)
  const tables = await readTables(connection)

  await migrate(connection, [...before, repair])
  const sorted = (list: typeof tables) =>
    list.map(({ name, rows }) => ({ name, rows: rows.map((row) => JSON.stringify(row)).sort() }))
  expect(sorted(await readTables(connection))).toEqual(sorted(tables))
})

test('the repair replaces incomplete credit days by the sums of the ledger, and keeps newer quotes', async () => {
  const connection = await databaseWith('hidden')
  // As version 8 writes: an entry together with its day, and an inbound quote only in the column. Day 2 has an old
  // entry and a new one, day 3 only a new one.
  const owner = { ...connection, options: '-c parley.workspace=all' }
  await query(
    owner,
    `with entered as (
       insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, created_at)
       select gen_random_uuid(), id, 'debit', -10, 100, gen_random_uuid(), at from workspaces,
         unnest(array[timestamptz '2026-03-02 23:59Z', timestamptz '2026-03-03 00:00Z']) as at
       returning workspace_id, (created_at at time zone 'UTC')::date as day, -amount as spent
     )
     insert into credit_days (workspace_id, day, spent, refunded) select workspace_id, day, spent, 0 from entered`,
  )
  await query(
    owner,
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, type, received_at, recorded_at, content,
       quoted_wa_message_id)
     select gen_random_uuid(), workspace_id, id, 'wamid.in.9', 'text', now(), now(),
       '{"text": "\\"quotedWaMessageId\\""}', 'wamid.new' from senders`,
  )

  await migrate(connection, [...before, repair])
  const spentLater = (day: string, spent: number) => ({ name: 'Workspace 1', day, spent, refunded: 0 })
  expect((await days(connection)).slice(0, 3)).toEqual([
    ledgerDays[0],
    spentLater('2026-03-02', 12),
    spentLater('2026-03-03', 10),
  ])
  expect(await quotes(connection, 'inbound_messages')).toEqual([
    ...quotesIn,
    { id: 'wamid.in.9', quoted: 'wamid.new' },
    { id: 'wamid.in.9', quoted: 'wamid.new' },
  ])
})
