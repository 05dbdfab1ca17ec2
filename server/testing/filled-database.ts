/**
 * Databases with rows in every table. After a migration such as `0060_words.sql`, the rows of `filled/words.sql` are added,
 * so every later migration runs on filled tables. The rows are written by the
 * ordinary role that owns the database, and read by a superuser, because row-level security does not apply to
 * superusers.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import type { Connection } from '../src/db/db.ts'
import { type Migration, migrate, readMigrations } from '../src/db/migrate/migrate.ts'

/** `words` for `0060_words.sql`: the name without its number, which may change when branches are merged. */
const baseNameOf = ({ name }: Migration): string => name.replace(/^\d+_|\.sql$/g, '')

/** SQL helpers for the files in `filled/`: a UUID made from a noun and a number, and 12:00 UTC of a day in March 2026. */
const helpers = `
  create function pg_temp.id(noun text, number int) returns uuid language sql
    as $$ select md5(noun || ' ' || number)::uuid $$;
  create function pg_temp.at(day int) returns timestamptz language sql
    as $$ select timestamptz '2026-02-28 12:00Z' + make_interval(days => day) $$;`

/** Applies all migrations, and adds the rows of each version after its migration. */
export async function fillDatabase(connection: Connection): Promise<void> {
  const migrations = readMigrations()
  for (const [index, migration] of migrations.entries()) {
    await migrate(connection, migrations.slice(0, index + 1))
    await addRows(connection, migration)
  }
}

/** Adds the rows for the tables and columns of a migration, if it has any. */
export async function addRows(connection: Connection, migration: Migration): Promise<void> {
  const file = join(import.meta.dirname, 'filled', `${baseNameOf(migration)}.sql`)
  if (!existsSync(file)) return
  await withClient(connection, async (client) => {
    await client.query("set parley.workspace = 'all'")
    await client.query(helpers)
    await client.query(`begin; ${readFileSync(file, 'utf8')}; commit`)
  })
}

export const asSuperuser = (connection: Connection): Connection => ({
  ...inject('postgres'),
  user: 'postgres',
  ...(connection.database !== undefined && { database: connection.database }),
})

export async function query<Row extends object>(connection: Connection, text: string): Promise<Row[]> {
  return withClient(connection, async (client) => (await client.query<Row & pg.QueryResultRow>(text)).rows)
}

async function withClient<T>(connection: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export interface TableRows {
  name: string
  columns: string[]
  /** The column with the workspace of a row, if the table has one. */
  workspaceColumn: string | undefined
  /** Whether the table has row-level security. */
  isProtected: boolean
  rows: Record<string, unknown>[]
}

interface Row {
  name: string
  row: Record<string, unknown>
}

/** Reads all tables with all rows, except the list of migrations and their progress. Partitions are read as part of their table. */
export async function readTables(connection: Connection): Promise<TableRows[]> {
  return withClient(asSuperuser(connection), async (client) => {
    const { rows: tables } = await client.query<{ name: string; columns: string[]; isProtected: boolean }>(
      `select relname as name, relrowsecurity as "isProtected", array(
         select attname::text from pg_attribute
         where attrelid = c.oid and attnum > 0 and not attisdropped order by attnum) as columns
       from pg_class c
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
         and relname not in ('migrations', 'migration_progress')
       order by relname`,
    )
    const reads = tables.map(
      ({ name }) => `select '${name}' as name, to_jsonb(t) as row from ${client.escapeIdentifier(name)} t`,
    )
    const all = reads.length === 0 ? [] : (await client.query<Row>(reads.join(' union all '))).rows
    const byTable = Map.groupBy(all, ({ name }) => name)
    return tables.map((table) => ({
      ...table,
      workspaceColumn: table.columns.find((column) => column === (table.name === 'workspaces' ? 'id' : 'workspace_id')),
      rows: (byTable.get(table.name) ?? []).map(({ row }) => row),
    }))
  })
}

/** Finds tables without rows or with rows of fewer than two workspaces, and columns that are always null. */
export function unfilled(tables: readonly TableRows[]): string[] {
  return tables.flatMap(({ name, columns, workspaceColumn, rows }) => {
    if (rows.length === 0) return [name]
    if (workspaceColumn !== undefined) {
      const workspaces = new Set(rows.map((row) => row[workspaceColumn]).filter((id) => id !== null))
      if (workspaces.size < 2) return [name]
    }
    return columns.filter((column) => rows.every((row) => row[column] === null)).map((column) => `${name}.${column}`)
  })
}

/** Finds rows that are gone or have other values than before. Tables and columns in `exempt` are not compared. */
export function missingRows(
  before: readonly TableRows[],
  after: readonly TableRows[],
  exempt: readonly string[],
): string[] {
  return before.flatMap(({ name, columns, rows }) => {
    if (exempt.includes(name)) return []
    const compared = columns.filter((column) => !exempt.includes(`${name}.${column}`))
    const valuesOf = (row: Record<string, unknown>) => JSON.stringify(compared.map((column) => row[column]))
    const left = new Map<string, number>()
    for (const row of after.find((table) => table.name === name)?.rows ?? []) {
      left.set(valuesOf(row), (left.get(valuesOf(row)) ?? 0) + 1)
    }
    return rows.flatMap((row) => {
      const values = valuesOf(row)
      const count = left.get(values) ?? 0
      left.set(values, count - 1)
      return count > 0 ? [] : [`${name} ${values}`]
    })
  })
}
