import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { createWorkspace, limitEndpoints, requireWorkspace, suspendWorkspace } from './workspaces.ts'

const server = useTestServer()

test('a new and a suspended workspace are returned with the times that are stored', async () => {
  const { db, clock } = server
  const ticking = Object.assign(Object.create(clock) as typeof clock, {
    now() {
      clock.forward({ ms: 1 })
      return clock.now()
    },
  })
  const created = await createWorkspace(db, ticking, 'Harbour')
  expect(await requireWorkspace(db, created.id)).toEqual(created)
  const suspended = await suspendWorkspace(db, ticking, created.id, 'unpaid')
  expect(await requireWorkspace(db, created.id)).toEqual(suspended)
})

test('a workspace may have 1 to 10,000 webhooks', async () => {
  const { db, clock } = server
  const { id } = await createWorkspace(db, clock, 'Harbour')
  for (const max of [1, 10_000]) expect((await limitEndpoints(db, id, max)).id).toBe(id)
  for (const max of [0, 10_001, 1.5]) {
    await expect(limitEndpoints(db, id, max)).rejects.toMatchObject({ code: 'validation_failed' })
  }
})
