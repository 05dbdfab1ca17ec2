import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase } from '../../testing/database.ts'
import { type Database, openDatabase } from './db.ts'
import { statement } from './statement.ts'

let db: Database
let drop: () => Promise<void>

beforeAll(async () => {
  const { connection, drop: dropIt } = await newDatabase()
  drop = dropIt
  db = openDatabase(connection, () => {}, 2)
})

afterAll(async () => {
  await db.close()
  await drop()
})

const everyType = statement(
  {
    rows: {
      isTrue: 'bool',
      bytes: 'bytea',
      small: 'smallint',
      whole: 'int',
      fraction: 'float8',
      words: 'text',
      data: 'json',
      at: 'timestamptz',
      id: 'uuid',
    },
  },
  ({ rows }) => `select is_true as "isTrue", bytes, small, whole, fraction, words, data, at, id from ${rows}`,
)

test('rows of every type arrive unchanged and in order, including nulls', async () => {
  const rows = [
    {
      isTrue: true,
      bytes: Buffer.from([0, 255]),
      small: -3,
      whole: 70_000,
      fraction: 0.0125,
      words: 'naïve "quotes", {braces} \\ and 𝄞',
      data: { a: [1, null, 'ü'] },
      at: new Date('1999-12-31T23:59:59.999Z'),
      id: '0192f0c1-7a2b-7000-8000-0123456789ab',
    },
    {
      isTrue: null,
      bytes: null,
      small: null,
      whole: null,
      fraction: null,
      words: null,
      data: null,
      at: null,
      id: null,
    },
  ]
  expect(await everyType.rows(db, { rows })).toEqual(rows)
  expect(await everyType.rows(db, { rows: [] })).toEqual([])
})

test('parameters are numbered by first use, unused ones are not sent, and column names may be SQL keywords', async () => {
  const query = statement(
    { unused: 'uuid', second: 'int', first: 'int', ids: 'int[]', rows: { theName: 'text', leading: 'int' } },
    (the) => `select ${the.first} - ${the.second} as difference, ${the.first} = any(${the.ids}) as isin, the_name,
      rows.leading
      from ${the.rows} where ${the.second} is not null`,
  )
  expect(query.text.match(/\$\d+/g)).toEqual(['$1', '$2', '$1', '$3', '$4', '$5', '$2'])
  expect(query.text).toContain('unnest($4::text[], $5::int[]) as rows("the_name", "leading")')
  const values = { unused: 'not an id', second: 2, first: 5, ids: [5], rows: [{ theName: 'x', leading: 1 }] }
  expect(await query.first(db, values)).toEqual({ difference: 3, isin: true, the_name: 'x', leading: 1 })
})

test('a value of the wrong type, a missing value and a misspelled name do not compile', () => {
  const query = statement({ id: 'uuid', events: { id: 'uuid', at: 'timestamptz' } }, ({ id }) => `select ${id}`)
  const at = new Date()
  const id = '0192f0c1-7a2b-7000-8000-0123456789ab'
  const never = () => {
    void query.rows(db, { id, events: [{ id, at }] })
    // @ts-expect-error a number is not a UUID
    void query.rows(db, { id: 1, events: [] })
    // @ts-expect-error a column is missing
    void query.rows(db, { id, events: [{ id }] })
    // @ts-expect-error a name is misspelled
    void query.rows(db, { id, evnts: [{ id, at }] })
    // @ts-expect-error no parameter of this name
    statement({ id: 'uuid' }, (the) => `select ${the.ids}`)
    // @ts-expect-error no type of this name
    statement({ id: 'uid' }, (the) => `select ${the.id}`)
  }
  expect(never).toBeTypeOf('function')
})
