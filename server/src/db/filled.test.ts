import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../../testing/database.ts'
import {
  addRows,
  asSuperuser,
  missingRows,
  query,
  readTables,
  type TableRows,
  unfilled,
  wordsOf,
} from '../../testing/filled-database.ts'
import type { Connection } from './db.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'

/**
 * Every migration on a database that the version before it has filled. A new migration needs nothing here unless it changes
 * or removes rows on purpose, or moves data. Rows for its new tables and columns go into `server/testing/filled/`.
 */
interface Expectation {
  /** Tables (`orders`) and columns (`orders.note`) whose values it changes or removes on purpose. */
  changes?: readonly string[]
  /** Tables that no row can be in at this version. */
  staysEmpty?: readonly string[]
  /** For migrations that move data: a query for the rows that are wrong afterwards. */
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
    (table) => `select id, content ->> 'quotedWaMessageId' as wanted, quoted_wa_message_id as found from ${table}
      where content ->> 'quotedWaMessageId' <> coalesce(quoted_wa_message_id, '')`,
  )
  .join(' union all ')

const expectations: Record<string, Expectation> = {
  // Sending came with the next migration, whose new columns of messages have no default: until then no message was kept.
  network: { staysEmpty: ['messages', 'message_statuses'] },
  console: { wrongRows: wrongCreditDays },
  ingest: { wrongRows: wrongQuotes },
  // On rows that were skipped: repair.test.ts.
  repair_skipped_rows: { wrongRows: `select 1 from (${wrongCreditDays}) d union all select 1 from (${wrongQuotes}) q` },
  rate_limits: { changes: ['access_revision.keeper'] },
}

/** They count changes to other rows. */
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

// One database goes through all versions; a database of its own for each migration would take minutes.
beforeAll(async () => {
  const { connection, drop } = await newEmptyDatabase()
  try {
    for (const migration of migrations) outcomes.set(migration.name, await applyTo(connection, migration))
  } finally {
    await drop()
  }
})

/** Applies a migration to the rows of all versions before it, then adds the rows of its own version. */
async function applyTo(connection: Connection, migration: Migration): Promise<Outcome> {
  const { changes = [], staysEmpty = [], wrongRows } = expectations[wordsOf(migration)] ?? {}
  const before = await readTables(connection)
  await migrate(connection, upTo(migration.version))
  const missing = missingRows(before, await readTables(connection), [...counters, ...changes])
  const wrong = wrongRows === undefined ? [] : await query(asSuperuser(connection), wrongRows)
  await addRows(connection, migration)
  const tables = (await readTables(connection)).filter(({ name }) => !staysEmpty.includes(name))
  return { missingRows: missing, wrongRows: wrong, unfilled: unfilled(tables) }
}

test.each(migrations)('$name keeps every row of a filled database', ({ name }) => {
  expect(outcomes.get(name)?.missingRows).toEqual([])
})

test.each(migrations.filter((migration) => expectations[wordsOf(migration)]?.wrongRows))(
  '$name moves the data of a filled database',
  ({ name }) => {
    expect(outcomes.get(name)?.wrongRows).toEqual([])
  },
)

test.each(migrations)('after $name every table has rows of two workspaces, and every column a value', (migration) => {
  const advice = `add rows to server/testing/filled/${wordsOf(migration)}.sql`
  expect(outcomes.get(migration.name)?.unfilled, advice).toEqual([])
})

test('every expectation belongs to a migration', () => {
  expect(Object.keys(expectations).filter((words) => !migrations.some((each) => wordsOf(each) === words))).toEqual([])
})

test('every migration sees the rows of every workspace from its first statement to its last', async () => {
  const connection = await emptyDatabase()
  const next = { version: migrations.length + 1, name: 'the_next.sql', text: '' }
  for (const migration of [...migrations, next]) {
    const hidden = (await readTables(connection)).filter(({ isProtected }) => isProtected)
    const text = `${countsProbe(hidden)};\n${migration.text}\n;${settingProbe}`
    await migrate(connection, [...upTo(migration.version - 1), { ...migration, text }])
    await addRows(connection, migration)
  }
})

const countsProbe = (tables: readonly TableRows[]): string => {
  const checks = tables.map(({ name, rows: { length } }) => {
    const seen = `(select count(*) from ${name})`
    return `if ${seen} <> ${length} then raise exception 'it sees % of ${length} rows of ${name}', ${seen}; end if;`
  })
  return `do $probe$ begin ${checks.join('\n')} end $probe$`
}

const settingProbe = `do $probe$ begin
  if current_setting('parley.workspace', true) is distinct from 'all' then
    raise exception 'at its end it does not see every row';
  end if;
end $probe$`

test('rows that are gone or changed are noticed, and so are tables and columns without rows', async () => {
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
