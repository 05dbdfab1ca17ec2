import { expect, test } from 'vitest'
import { newEmptyDatabase } from '../../../testing/database.ts'
import { query } from '../../../testing/filled-database.ts'
import { findBrokenRules } from '../../../testing/migration-rules.ts'
import { type Migration, migrate, programVersion, readMigrations } from './migrate.ts'
import { releasedVersion } from './released.ts'

const migrations = readMigrations()

/** The rules are for migrations after the first release. CONTRIBUTING.md explains them. */
const isReleased = ({ version }: Migration) => version <= releasedVersion

const fileNodes = async (connection: Parameters<typeof query>[0]) => {
  const rows = await query<{ name: string; node: number }>(
    connection,
    `select relname as name, relfilenode::int as node from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  return new Map(rows.map(({ name, node }) => [name, node]))
}

/** The tables that each later migration writes again from the first row to the last, with all reads and writes blocked. */
async function findRewritten(earlier: Migration[], later: readonly Migration[]): Promise<Map<string, string[]>> {
  const { connection, drop } = await newEmptyDatabase()
  try {
    await migrate(connection, earlier)
    const found = new Map<string, string[]>()
    let before = await fileNodes(connection)
    for (const [index, { name }] of later.entries()) {
      await migrate(connection, [...earlier, ...later.slice(0, index + 1)])
      const after = await fileNodes(connection)
      const rewritten = [...before].filter(([table, node]) => (after.get(table) ?? node) !== node)
      found.set(
        name,
        rewritten.map(([table]) => table),
      )
      before = after
    }
    return found
  } finally {
    await drop()
  }
}

test('every migration keeps the rules for migrations while the service runs', async () => {
  const later = migrations.filter((migration) => !isReleased(migration))
  const rewritten = await findRewritten(migrations.filter(isReleased), later)
  for (const migration of later) {
    expect(findBrokenRules(migration, releasedVersion), migration.name).toEqual([])
    expect(rewritten.get(migration.name), migration.name).toEqual([])
  }
})

test('the last release is not newer than the migrations', () => {
  expect(releasedVersion).toBeLessThanOrEqual(programVersion(migrations))
})

const rulesOf = (text: string) =>
  findBrokenRules({ version: 24, name: '0024_test.sql', text }, 23).map((each) => each.split(/[:,]/)[0])

test.each([
  'create table notes (id int); create index notes_by_id on notes (id); update notes set id = 1; drop index notes_by_id',
  '-- step: concurrently\ncreate index concurrently messages_by_id on messages (id)',
  'create index events_by_id on only events (id)',
  '-- step: batches of messages\nupdate messages set type = null where ctid >= $1 and ctid < $2',
  '-- few rows: one for each installation\nupdate access_revision set value = 1',
  "alter table messages add column note text not null default 'a', add column sent_on date default now()",
  `alter table messages add constraint has_note check (note is not null) not valid;
-- step: transaction
alter table messages validate constraint has_note;
-- step: transaction
alter table messages alter column note set not null, drop constraint has_note`,
  'create function f() returns void language sql as $$ update messages set type = null; drop table messages $$',
  'alter table messages alter column key_id drop not null, alter column type drop default, drop constraint a_check',
  '-- contract: needs 23\nalter table messages drop column type',
  'select 1 from messages for update',
])('%j keeps the rules', (text) => {
  expect(rulesOf(text)).toEqual([])
})

test.each([
  ['create index messages_by_id on messages (id)', 'use "step'],
  ['create unique index a on\n  messages (id)', 'use "step'],
  ['update messages set type = null', 'use "step'],
  ['with old as (select 1) update messages set type = null', 'use "step'],
  ['do $$ begin delete from messages; end $$', 'use "step'],
  ['alter table messages drop column type', 'the version before may use the column or table'],
  ['alter table messages add column a int, drop type', 'the version before may use the column or table'],
  ['alter table messages rename column type to kind', 'the version before may use the column or table'],
  ['alter table messages rename to notes', 'the version before may use the column or table'],
  ['drop table messages', 'the version before may use it'],
  ['-- contract: needs 24\ndrop table messages', '"contract'],
  [
    'alter table messages alter column type set not null',
    'first add a check "is not null" as "not valid" and validate it in a step of its own; then "set not null" reads no rows',
  ],
  [
    'alter table messages add check (type is not null)',
    'add the constraint as "not valid" and validate it in a step of its own',
  ],
  [
    'alter table messages add constraint a foreign key (key_id) references api_keys',
    'add the constraint as "not valid" and validate it in a step of its own',
  ],
  ['alter table messages add unique (id)', 'build the index concurrently first'],
  [
    'alter table messages add column a int; alter table messages validate constraint b',
    'validate a constraint in a step of its own',
  ],
])('%j breaks a rule', (text, rule) => {
  expect(rulesOf(text)).toEqual([rule])
})

test('a default that rewrites the table is found', async () => {
  const notes = { version: 1, name: '0001_notes.sql', text: 'create table notes (id int)' }
  const added = ['at timestamptz default now()', 'other uuid default gen_random_uuid()']
  const next = added.map((column, index) => ({
    version: index + 2,
    name: column,
    text: `alter table notes add column ${column}`,
  }))
  const rewritten = await findRewritten([notes], next)
  expect(added.map((column) => rewritten.get(column))).toEqual([[], ['notes']])
})
