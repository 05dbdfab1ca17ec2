import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../../../testing/database.ts'
import { asSuperuser, query } from '../../../testing/filled-database.ts'
import { spawnNode } from '../../../testing/parley.ts'
import { until } from '../../../testing/until.ts'
import type { Connection } from '../db.ts'
import { type Migration, migrate } from './migrate.ts'

const migrateProcess = join(import.meta.dirname, '..', '..', '..', 'testing', 'migrate-process.ts')

async function emptyDatabase(): Promise<Connection> {
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  return connection
}

async function open(connection: Connection): Promise<pg.Client> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Each row is in a block of its own. A batch has 256 blocks. */
const notesOf = (rows: number): Migration => ({
  version: 1,
  name: '0001_notes.sql',
  text: `create table notes (id int primary key, body text) with (fillfactor = 10);
    insert into notes select n, repeat('x', 500) from generate_series(1, ${rows}) n`,
})
const notes = notesOf(30)
/** Three batches. */
const manyNotes = notesOf(700)
const next = (text: string): Migration => ({ version: 2, name: '0002_next.sql', text })

const steps = (connection: Connection) =>
  query<{ step: number; block: number }>(connection, 'select step, block from migration_progress')
const one = async (connection: Connection, text: string) => Object.values((await query(connection, text))[0] ?? {})[0]

test('others read and write a table while a migration waits for the lock on it', async () => {
  const connection = await emptyDatabase()
  await migrate(connection, [notes])
  const report = await open(connection)
  await report.query('begin; select count(*) from notes')
  const reports: string[] = []
  const migrating = migrate(connection, [notes, next('alter table notes add column done boolean')], {
    onWait: (message) => reports.push(message),
  })
  const other = await open(connection)
  await other.query('set statement_timeout = 20000')
  for (let round = 0; round < 20 || reports.length === 0; round++) {
    // If the migration waited for as long as the report runs, this would too.
    await other.query(`update notes set body = 'y' where id = ${round + 1}`)
    await sleep(20)
  }
  expect(await one(connection, 'select max(version) from migrations')).toBe(1)
  await report.query('commit')
  expect(await migrating).toEqual(['0002_next.sql'])
  expect(reports).toEqual(['Migration 0002_next.sql waits until a table is free; others are not kept waiting'])
})

test('an index is built concurrently, and an incomplete one of an earlier try is built again', async () => {
  const connection = await emptyDatabase()
  await migrate(connection, [notes])
  const all = [notes, next('-- step: concurrently\ncreate unique index concurrently notes_by_body on notes (body);')]
  const failed = migrate(connection, all)
  await expect(failed).rejects.toThrow(
    'Migration 0002_next.sql failed and was rolled back: could not create unique index',
  )
  // It would reject writes.
  expect(await one(connection, `select to_regclass('notes_by_body')`)).toBe(null)

  await query(connection, 'update notes set body = id')
  await query(connection, 'create unique index notes_by_body on notes (body) where false')
  await query(
    asSuperuser(connection),
    `update pg_index set indisvalid = false where indexrelid = 'notes_by_body'::regclass`,
  )
  expect(await migrate(connection, all)).toEqual(['0002_next.sql'])
  expect(
    await query(connection, `select indisvalid, indpred from pg_index where indexrelid = 'notes_by_body'::regclass`),
  ).toEqual([{ indisvalid: true, indpred: null }])
})

test('an index that was built before the process stopped is not built again', async () => {
  const connection = await emptyDatabase()
  await migrate(connection, [notes])
  await query(connection, 'create index notes_by_body on notes (body)')
  const before = await one(connection, `select 'notes_by_body'::regclass::oid::int`)
  await migrate(connection, [
    notes,
    next(`-- step: concurrently
      create index concurrently notes_by_body on notes (body);
-- step: concurrently
      drop index concurrently notes_gone;`),
  ])
  expect(await one(connection, `select 'notes_by_body'::regclass::oid::int`)).toBe(before)
})

const batches = `alter table notes add column done boolean;
  create table done_log (id int);
  -- Row 600 fails as long as this table has a row.
  create table broken (id int); insert into broken values (600);
  create function log_done() returns trigger language plpgsql as $$ begin
    if exists (select from broken where id = new.id) then raise exception 'row % is broken', new.id; end if;
    insert into done_log values (new.id);
    return new;
  end $$;
  create trigger log_done before update on notes for each row execute function log_done();

-- step: batches of notes
update notes set done = true where ctid >= $1 and ctid < $2 and done is null;

-- step: transaction
alter table notes add check (done);
`

test('rows are changed in batches; after a failure the migration continues where it was', async () => {
  const connection = await emptyDatabase()
  const all = [manyNotes, next(batches)]
  await expect(migrate(connection, all)).rejects.toThrow(
    'Step 2 of 3 of migration 0002_next.sql failed: row 600 is broken. The steps before it stay applied, and the next try continues with it.',
  )
  const [reached] = await steps(connection)
  expect(reached).toEqual({ step: 1, block: 512 })
  expect(await one(connection, 'select count(*)::int from notes where done')).toBe(512)

  await query(connection, 'delete from broken')
  // The service moved a row that was not done to the part that was: it is found, too.
  await query(connection, 'update notes set done = null where id = 1')
  expect(await migrate(connection, all)).toEqual(['0002_next.sql'])
  expect(await one(connection, 'select count(*)::int from notes where done')).toBe(700)
  expect(await query(connection, 'select id, count(*)::int from done_log group by id having count(*) > 1')).toEqual([
    { id: 1, count: 3 },
  ])
  expect(await steps(connection)).toEqual([])
})

test('a batch that always finds rows to change is an error', async () => {
  const connection = await emptyDatabase()
  const text = `-- step: batches of notes\nupdate notes set body = body where ctid >= $1 and ctid < $2 and id = 1`
  await expect(migrate(connection, [notes, next(text)])).rejects.toThrow(
    'still found rows to change in notes after 20 passes',
  )
  // When the cause is gone, the next try succeeds.
  await query(connection, 'delete from notes where id = 1')
  expect(await migrate(connection, [notes, next(text)])).toEqual(['0002_next.sql'])
})

test('batches include the rows of tables that inherit from the table, even if these are larger', async () => {
  const connection = await emptyDatabase()
  const text = `create table small (id int, body text, done boolean);
    create table small_older (like small) with (fillfactor = 10); insert into small_older select id, body from notes;
    alter table small_older inherit small;
-- step: batches of small
update small set done = true where ctid >= $1 and ctid < $2 and done is null;`
  await migrate(connection, [manyNotes, next(text)])
  expect(await one(connection, 'select count(*)::int from small where done')).toBe(700)
})

test('a process that is stopped while an index is built ends at once, and the next one continues', async () => {
  const connection = await emptyDatabase()
  await migrate(connection, [notes])
  const report = await open(connection)
  await report.query('begin; update notes set body = null where id = 1')
  const all = [notes, next('-- step: concurrently\ncreate index concurrently notes_by_body on notes (body);')]
  const stopped = new AbortController()
  const migrating = migrate(connection, all, { signal: stopped.signal })
  const result = migrating.catch((error: Error) => error.name)
  await until('it builds the index', () =>
    one(connection, `select true from pg_stat_activity where query like 'create index%' and wait_event_type = 'Lock'`),
  )
  stopped.abort()
  expect(await result).toBe('AbortError')
  await report.query('commit')
  expect(await migrate(connection, all)).toEqual(['0002_next.sql'])
  expect(await one(connection, `select indisvalid from pg_index where indexrelid = 'notes_by_body'::regclass`)).toBe(
    true,
  )
})

test('a process that freezes while it migrates loses the lock, and another one continues', async () => {
  const connection = await emptyDatabase()
  await migrate(connection, [manyNotes])
  // One second for each batch.
  const text = batches
    .replace('insert into broken values (600);', '')
    .replace('and done is null', '$&\n  and (select pg_sleep(1)) is not null')
  const all = [manyNotes, next(text)]
  const frozen = spawnNode([migrateProcess], {
    TEST_CONNECTION: JSON.stringify(connection),
    TEST_MIGRATIONS: JSON.stringify(all),
  })
  await until('the first batch is done', async () => ((await steps(connection).catch(() => []))[0]?.block ?? 0) > 0)
  frozen.child.kill('SIGSTOP')
  expect(await migrate(connection, all)).toEqual(['0002_next.sql'])
  expect(await query(connection, 'select id from done_log group by id having count(*) > 1')).toEqual([])
  frozen.child.kill('SIGCONT')
  const { code, err } = await frozen.ended
  expect(code).toBe(1)
  expect(err).toMatch(
    /Step 2 of 3 of migration 0002_next\.sql failed: terminating connection due to idle-(session|in-transaction) timeout\./,
  )
  expect(await one(connection, 'select count(*)::int from notes where done')).toBe(700)
})

test.each([
  ['-- step: quickly\nselect 1', 'unknown "step: quickly"'],
  ['-- step: concurrently\ncreate index concurrently a on notes (id); select 1', 'must have one statement'],
  ['-- step: concurrently\nselect 1', 'must be "create index concurrently" or "drop index concurrently"'],
  ['-- step: batches of notes\nupdate notes set body = null', 'must have the condition "ctid >= $1 and ctid < $2"'],
])('a migration with %j is an error', async (text, message) => {
  const failed = migrate(await emptyDatabase(), [next(text)])
  await expect(failed).rejects.toThrow(`migrations/0002_next.sql: `)
  await expect(failed).rejects.toThrow(message)
})
