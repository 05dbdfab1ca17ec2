import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../../testing/database.ts'
import {
  addRows,
  asSuperuser,
  baseNameOf,
  missingRows,
  query,
  readTables,
  type TableRows,
  unfilled,
} from '../../testing/filled-database.ts'
import type { Connection } from './db.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'

/**
 * Applies every migration to a database with rows of all versions before it. A new migration needs an entry here only
 * if it changes or removes rows on purpose, or moves data. Rows for its new tables and columns go into
 * `server/testing/filled/`.
 */
interface Expectation {
  /** Tables (`orders`) and columns (`orders.note`) whose values it changes or removes on purpose. */
  changes?: readonly string[]
  /** Tables that cannot have rows at this version. */
  staysEmpty?: readonly string[]
  /** For migrations that move data: a query that finds rows that are wrong afterwards. */
  wrongRows?: string
}

const wrongCreditDays = `
  select * from (
    select workspace_id, (created_at at time zone 'UTC')::date as day,
      coalesce(-sum(amount) filter (where kind = 'debit'), 0) as spent,
      coalesce(sum(amount) filter (where kind = 'refund'), 0) as refunded
    from credit_entries group by 1, 2) ledger
  full join credit_days d using (workspace_id, day)
  where (ledger.spent, ledger.refunded) is distinct from (d.spent, d.refunded)`

const wrongQuotes = ['inbound_messages', 'messages']
  .map(
    (table) => `select id, content ->> 'quotedWaMessageId' as expected, quoted_wa_message_id as found from ${table}
      where content ->> 'quotedWaMessageId' <> coalesce(quoted_wa_message_id, '')`,
  )
  .join(' union all ')

/** Keys that do not know the first key of their rotations, and idempotency keys that are not found under it. */
const wrongSystems = `
  with first as (select workspace_id, id from api_keys where name = 'Rotated key 0'),
  expected as (
    select f.workspace_id, f.id as key_id, used.name, used.day
    from first f, (values ('of all', 0), ('of the first', 0), ('of key 0', 0), ('of key 1', 1), ('of key 2', 2),
      ('of the last two', 1)) as used(name, day))
  select k.name as wrong from api_keys k left join first f using (workspace_id)
  where k.system_id is distinct from case when k.name in ('Rotated key 1', 'Rotated key 2') then f.id end
  union all
  select e.name from expected e left join idempotency_keys i
    on (i.workspace_id, i.key_id, i.idempotency_key) = (e.workspace_id, e.key_id, e.name)
  where i.created_at is distinct from timestamptz '2026-02-28 12:00Z' + make_interval(days => e.day)
  union all
  select 'idempotency keys' where (select count(*) from idempotency_keys) <> 2 * (1 + 9)`

const expectations: Record<string, Expectation> = {
  // The next migration added sending, with columns of messages that have no default. Before it no message could exist.
  network: { staysEmpty: ['messages', 'message_statuses'] },
  console: { wrongRows: wrongCreditDays },
  ingest: { wrongRows: wrongQuotes },
  // For databases with skipped rows, see repair.test.ts.
  repair_skipped_rows: { wrongRows: `select 1 from (${wrongCreditDays}) d union all select 1 from (${wrongQuotes}) q` },
  calling_systems: { changes: ['idempotency_keys.key_id'], wrongRows: wrongSystems },
  rate_limits: { changes: ['access_revision.keeper'] },
}

/** These columns count changes to other rows. */
const counters = ['access_revision.value', 'routing_revision.value']

const migrations = readMigrations()

const upTo = (version: number): Migration[] => migrations.slice(0, version)

interface Outcome {
  missingRows: string[]
  wrongRows: object[]
  unfilled: string[]
}

/** By the name of the migration. */
const outcomes = new Map<string, Outcome>()

// One database goes through all versions. A separate database for each migration would take minutes. It fails if a
// migration does not see the rows of all workspaces.
beforeAll(async () => {
  const { connection, drop } = await newEmptyDatabase()
  try {
    let before: TableRows[] = []
    for (const migration of migrations) {
      const { after, ...outcome } = await applyTo(connection, migration, before)
      outcomes.set(migration.name, outcome)
      before = after
    }
    const next = { version: migrations.length + 1, name: 'the_next.sql', text: '' }
    await migrateAndLook(connection, next, before)
  } finally {
    await drop()
  }
})

/** Applies a migration to the rows of all versions before it, then adds the rows of its own version. */
async function applyTo(connection: Connection, migration: Migration, before: readonly TableRows[]) {
  const { changes = [], staysEmpty = [], wrongRows } = expectations[baseNameOf(migration)] ?? {}
  await migrateAndLook(connection, migration, before)
  const missing = missingRows(before, await readTables(connection), [...counters, ...changes])
  const wrong = wrongRows === undefined ? [] : await query<object>(asSuperuser(connection), wrongRows)
  await addRows(connection, migration)
  const after = await readTables(connection)
  const filled = after.filter(({ name }) => !staysEmpty.includes(name))
  return { missingRows: missing, wrongRows: wrong, unfilled: unfilled(filled), after }
}

/** Applies a migration that fails if it does not see the rows of all workspaces from its first to its last statement. */
async function migrateAndLook(
  connection: Connection,
  migration: Migration,
  before: readonly TableRows[],
): Promise<void> {
  const { version, text } = migration
  const hidden = before.filter(({ isProtected }) => isProtected)
  // The first probe is part of the first step, unless that is not a transaction.
  const probed = `${countsProbe(hidden)};\n${text}${text.includes('-- step:') ? '\n-- step: transaction\n' : '\n;'}${settingProbe}`
  await migrate(connection, [...upTo(version - 1), { ...migration, text: probed }])
}

test.each(migrations)('$name keeps every row', ({ name }) => {
  expect(outcomes.get(name)?.missingRows).toEqual([])
})

test.each(migrations.filter((migration) => expectations[baseNameOf(migration)]?.wrongRows))(
  '$name moves the data correctly',
  ({ name }) => {
    expect(outcomes.get(name)?.wrongRows).toEqual([])
  },
)

test.each(migrations)(
  'after $name every table has rows of two workspaces, and every column has a value',
  (migration) => {
    const advice = `add rows to server/testing/filled/${baseNameOf(migration)}.sql`
    expect(outcomes.get(migration.name)?.unfilled, advice).toEqual([])
  },
)

test('every expectation names an existing migration', () => {
  expect(Object.keys(expectations).filter((name) => !migrations.some((each) => baseNameOf(each) === name))).toEqual([])
})

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

test('the checks find rows that are gone or changed, and tables and columns without rows', async () => {
  const connection = await emptyDatabase()
  const [foundation] = migrations as [Migration]
  await migrate(connection, [foundation])
  await addRows(connection, foundation)
  const before = await readTables(connection)
  await query(
    asSuperuser(connection),
    `create table notes (id int, workspace_id uuid); alter table workspaces add column colour text;
     delete from webhooks where id = (select max(id::text)::uuid from webhooks);
     update api_keys set hint = 'changed'`,
  )
  const after = await readTables(connection)
  const damaged = (exempt: string[]) =>
    missingRows(before, after, [...counters, ...exempt]).map((row) => row.split(' ')[0])
  expect(damaged([])).toEqual(['api_keys', 'api_keys', 'webhooks'])
  expect(damaged(['api_keys.hint', 'webhooks'])).toEqual([])
  expect(unfilled(after)).toEqual(['notes', 'webhooks', 'workspaces.colour'])
})

async function emptyDatabase(): Promise<Connection> {
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  return connection
}
