import { beforeAll, expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import { auditPage } from './audit.ts'
import { toAuditQuery } from './console.ts'

const server = useTestServer()
let workspaceId: string

/** 20,000 entries of common actions. One at the beginning is of another person, action and target. */
beforeAll(async () => {
  workspaceId = (await newWorkspace(server)).id
  await server.db.change(
    `insert into audit_entries (id, workspace_id, at, actor, action, target)
     select gen_random_uuid(), $1, now() - n * interval '1 minute',
       case n when 20000 then 'rare@example.com' else 'person' || n % 5 || '@example.com' end,
       case n when 20000 then 'flow.rare' else (array['key.create', 'key.revoke', 'webhook.test'])[1 + n % 3] end,
       case n when 20000 then 'rare' else 'key' || n % 100 end
     from generate_series(1, 20000) as n`,
    [workspaceId],
  )
  await server.db.change('analyze audit_entries')
})

/** What this connection has read so far: how often all entries, and how many entries. */
const readsOf = async (tx: Db) =>
  (await tx.first<{ whole: number; read: number }>(
    `select seq_scan as whole, seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables
     where relid = 'audit_entries'::regclass`,
  )) ?? { whole: 0, read: 0 }

/** The rows of a page of 50, and how many entries were read for it. */
const readPage = (filters: Parameters<typeof toAuditQuery>[0]) =>
  server.db.within(workspaceId).transaction(async (tx) => {
    const before = await readsOf(tx)
    const rows = await auditPage(tx, workspaceId, toAuditQuery(filters), { take: 50, after: null })
    const after = await readsOf(tx)
    return { rows, whole: after.whole - before.whole, read: after.read - before.read }
  })

test.each([
  ['no filter', {}, 50],
  ['a common person', { actor: 'person1@example.com' }, 50],
  ['two people', { actor: 'person1@example.com,rare@example.com' }, 50],
  ['a rare person', { actor: 'rare@example.com' }, 1],
  ['a person without entries', { actor: 'unknown@example.com' }, 0],
  ['a common action', { action: 'key.create' }, 50],
  ['a common noun', { action: 'key' }, 50],
  ['a noun and one of its actions', { action: 'key,key.create' }, 50],
  ['a rare action', { action: 'flow.rare' }, 1],
  ['a rare noun', { action: 'flow' }, 1],
  ['a rare and a common noun', { action: 'flow,webhook' }, 50],
  ['a noun without entries', { action: 'member' }, 0],
  ['a rare target', { target: 'rare' }, 1],
])('%s reads few entries', async (_name, filters, count) => {
  const { rows, whole, read } = await readPage(filters)
  expect(rows).toHaveLength(count)
  expect(new Set(rows.map(({ id }) => id)).size).toBe(count)
  expect(rows.map(({ at }) => at.getTime())).toEqual(rows.map(({ at }) => at.getTime()).sort((a, b) => b - a))
  expect(whole).toBe(0)
  // A page for each value of the filter.
  expect(read).toBeLessThan(250)
})

test('a noun does not include nouns that begin with its name', async () => {
  await server.db.change(
    `insert into audit_entries (id, workspace_id, at, actor, action)
     values (gen_random_uuid(), $1, now(), 'x', 'flows.read'), (gen_random_uuid(), $1, now(), 'x', 'flow-old.read')`,
    [workspaceId],
  )
  expect((await readPage({ action: 'flow' })).rows.map(({ action }) => action)).toEqual(['flow.rare'])
})
