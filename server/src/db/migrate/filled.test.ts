import { expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../../../testing/database.ts'
import {
  addRows,
  asSuperuser,
  missingRows,
  query,
  readTables,
  type TableRows,
  unfilled,
} from '../../../testing/filled-database.ts'
import type { Connection } from '../db.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'
import { releasedVersion } from './released.ts'

const migrations = readMigrations()
const released = migrations.filter(({ version }) => version <= releasedVersion)
const later = migrations.slice(released.length)

/** These columns count changes to other rows. */
const counters = ['access_revision.value', 'routing_revision.value']

test('migrations after the last release see every row and keep it; every table has rows of two workspaces, and every column has a value', async () => {
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  for (const [index, migration] of released.entries()) {
    await migrate(connection, released.slice(0, index + 1))
    await addRows(connection, migration)
  }
  const next = { version: (migrations.at(-1)?.version ?? 0) + 1, name: 'the_next.sql', text: '' }
  let before = await readTables(connection)
  for (const [index, migration] of [...later, next].entries()) {
    await migrate(connection, [...released, ...later.slice(0, index), withProbes(migration, before)])
    const after = await readTables(connection)
    expect(missingRows(before, after, counters), migration.name).toEqual([])
    await addRows(connection, migration)
    before = await readTables(connection)
  }
  expect(unfilled(before), 'add rows to server/testing/filled/').toEqual([])
  await expectChecksToFindDamage(connection, before)
})

/** A migration that fails if it does not see the rows of all workspaces from its first to its last statement. */
function withProbes(migration: Migration, before: readonly TableRows[]): Migration {
  const { text } = migration
  const hidden = before.filter(({ isProtected }) => isProtected)
  // The first probe is part of the first step, unless that is not a transaction.
  const probed = `${countsProbe(hidden)};\n${text}${text.includes('-- step:') ? '\n-- step: transaction\n' : '\n;'}${settingProbe}`
  return { ...migration, text: probed }
}

const countsProbe = (tables: readonly TableRows[]): string => {
  const checks = tables.map(({ name, rows: { length } }) => {
    const visible = `(select count(*) from ${name})`
    return `if ${visible} <> ${length} then raise exception 'it sees % of ${length} rows of ${name}', ${visible}; end if;`
  })
  return `do $probe$ begin ${checks.join('\n')} end $probe$`
}

const settingProbe = `do $probe$ begin
  if current_setting('parley.workspace', true) is distinct from 'all' then
    raise exception 'it does not see every row at its end';
  end if;
end $probe$`

/** Rows that are gone or changed, and tables and columns without rows. */
async function expectChecksToFindDamage(connection: Connection, before: readonly TableRows[]): Promise<void> {
  await query(
    asSuperuser(connection),
    `create table notes (id int, workspace_id uuid); alter table workspaces add column colour text;
     delete from mails where id = (select max(id::text)::uuid from mails);
     update api_keys set hint = 'changed' where id = (select max(id::text)::uuid from api_keys)`,
  )
  const after = await readTables(connection)
  const damaged = (exempt: string[]) =>
    missingRows(before, after, [...counters, ...exempt]).map((row) => row.split(' ')[0])
  expect(damaged([])).toEqual(['api_keys', 'mails'])
  expect(damaged(['api_keys.hint', 'mails'])).toEqual([])
  expect(unfilled(after)).toEqual(['mails', 'notes', 'workspaces.colour'])
}
