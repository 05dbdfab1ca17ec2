import type { GraceHours } from '@parley/contract/console/keys'
import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import { useProcesses } from '../../../testing/processes.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import type { TestWorkspace } from '../../../testing/workspace.ts'
import { readBalance } from '../credits/credits.ts'
import { rotateKey } from '../keys/rotate.ts'

const server = useTestServer()
const processes = useProcesses(server)
const sending = useSending(server)

const text = { to: '16505550123', type: 'text', text: { body: 'hi' } }

const rotate = (workspace: TestWorkspace, id: string, graceHours: GraceHours) =>
  server.db.transaction((tx) =>
    rotateKey(tx, server.clock, { workspaceId: workspace.id, id, graceHours, createdBy: 'test' }),
  )

const send = (key: string, idempotencyKey: string) =>
  server.call('/v1/messages', { method: 'POST', key, body: text, headers: { 'idempotency-key': idempotencyKey } })

/** Reads all pages of two. */
async function idsOf(key: string, order: 'asc' | 'desc' = 'asc'): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: string = cursor && `&cursor=${cursor}`
    const { body } = await server.call(`/v1/messages?limit=2&order=${order}${next}`, { key })
    const page = body as { data: Message[]; total: number; next_cursor: string | null }
    ids.push(...page.data.map(({ id }) => id))
    if (page.next_cursor === null) expect(page.total).toBe(ids.length)
    cursor = page.next_cursor
  }
  return ids
}

test('the keys of a chain of rotations read each other’s messages, in order, and another key reads none', async () => {
  const { workspace } = await sending.newShop()
  const second = await rotate(workspace, workspace.key.id, 24)
  const third = await rotate(workspace, second.key.id, 24)
  const secrets = [workspace.secret, second.secret, third.secret]
  const ids: string[] = []
  for (let count = 0; count < 7; count++) {
    server.clock.forward({ ms: 5 })
    const { body } = await send(secrets[count % 3] as string, `order-${count}`)
    ids.push((body as Message).id)
  }
  for (const secret of secrets) {
    expect(await idsOf(secret)).toEqual(ids)
    expect(await idsOf(secret, 'desc')).toEqual(ids.toReversed())
    for (const id of ids) expect((await server.call(`/v1/messages/${id}`, { key: secret })).status).toBe(200)
  }
  const other = await workspace.newKey()
  expect(await idsOf(other.secret)).toEqual([])
  expect((await server.call(`/v1/messages/${ids[0]}`, { key: other.secret })).status).toBe(404)
})

test('a request that is repeated after a rotation sends nothing and gets the first response', async () => {
  const { workspace } = await sending.newShop(10)
  const first = await send(workspace.secret, 'order-1001')
  const second = await rotate(workspace, workspace.key.id, 0)
  const third = await rotate(workspace, second.key.id, 1)
  const later = await send(second.secret, 'order-1002')
  for (const [secret, key, expected] of [
    [second.secret, 'order-1001', first],
    [third.secret, 'order-1001', first],
    [third.secret, 'order-1002', later],
  ] as const) {
    const again = await send(secret, key)
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([202, 'true', expected.body])
  }
  expect(await readBalance(server.db, workspace.id)).toBe(8)
})

test('50 parallel requests through the old and the new key in three processes send once', async () => {
  const { workspace } = await sending.newShop(10)
  const { secret } = await rotate(workspace, workspace.key.id, 1)
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      processes.call(index, '/v1/messages', {
        method: 'POST',
        key: index % 2 === 0 ? workspace.secret : secret,
        headers: { 'idempotency-key': 'order-1001' },
        body: text,
      }),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(202))
  expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(await readBalance(server.db, workspace.id)).toBe(9)
})
