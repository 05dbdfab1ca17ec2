import { expect, test } from 'vitest'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'

const server = useTestServer()

test.each([
  ['/v1/templates?name=%00', 'name'],
  ['/v1/flow_responses?flow_id=a%00b', 'flow_id'],
  ['/v1/flow_responses?received_after=2026-02-30T00:00:00Z', 'received_after'],
  ['/v1/flow_responses?received_before=0000-01-01T00:00:00Z', 'received_before'],
  ['/v1/messages?created_after=2026-04-31T00:00:00Z', 'created_after'],
  ['/v1/messages?created_before=2026-01-01T00:00:00%2B23:59', 'created_before'],
])('a value that PostgreSQL rejects is a validation error: %s', async (path, param) => {
  const workspace = await newWorkspace(server)
  const { status, body } = await workspace.call(path)
  expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'validation_failed', param } } })
})

test('a leap day and a large time zone offset are valid', async () => {
  const workspace = await newWorkspace(server)
  for (const time of ['2028-02-29T00:00:00Z', '2026-01-01T00:00%2B14:00', '2026-01-01T24:00:00Z']) {
    expect((await workspace.call(`/v1/messages?created_after=${time}`)).status, time).toBe(200)
  }
})
