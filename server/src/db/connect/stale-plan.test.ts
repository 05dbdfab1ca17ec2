import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { toRefusal } from '../../http/errors.ts'
import { newUuid } from '../../lib/ids.ts'
import type { Db } from '../db.ts'

const server = useTestServer()

/** A table that a migration gives another column. */
async function newTable() {
  const table = `notes_${newUuid().replaceAll('-', '')}`
  await server.db.script(`create table ${table} (id int); insert into ${table} values (1)`)
  return { all: `select * from ${table}`, migrate: () => server.db.script(`alter table ${table} add column note text`) }
}

test('statements on all connections work after a migration has changed their columns', async () => {
  const { all, migrate } = await newTable()
  const workspace = await newWorkspace(server)
  const pools = [server.db, server.db.within(workspace.id)]
  const onEveryConnection = () =>
    Promise.all(Array.from({ length: 20 }, (_, index) => (pools[index % 2] as Db).rows(`${all}, pg_sleep(0.02)`)))
  await onEveryConnection()
  await migrate()
  const rows = (await onEveryConnection()).flat()
  expect(rows).toHaveLength(20)
  expect(rows[0]).toMatchObject({ id: 1, note: null })
})

test('a transaction that meets changed columns fails once, as if its connection was lost', async () => {
  const { all, migrate } = await newTable()
  const read = () => server.db.transaction((tx) => tx.rows(all))
  for (let round = 0; round < 20; round++) await read()
  await migrate()
  const error: Error = await read().then(
    () => expect.unreachable(),
    (reason) => reason,
  )
  expect(toRefusal(error).code).toBe('service_unavailable')
  for (let round = 0; round < 20; round++) expect(await read()).toEqual([{ id: 1, note: null }])
})
