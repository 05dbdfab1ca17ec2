import type { ListedMessage, MessageDetail } from '@parley/contract/console/messages'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newReceivedFile } from '../../../testing/files.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer()

async function setUp() {
  const workspace = await newWorkspace(server)
  const at = `/w/${workspace.id}`
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  return { workspace, at, member }
}

test('a list and the page of a message have the state of its file', async () => {
  const { workspace, at, member } = await setUp()
  const stored = await newReceivedFile(server, workspace, {})
  const gone = await newReceivedFile(server, workspace, { gone: 'missing' })
  const { data } = (await member.call(`${at}/messages`)).body as { data: ListedMessage[] }
  expect(data.find(({ id }) => id === stored)?.file).toMatchObject({
    kind: 'fetched',
    content_type: 'image/jpeg',
    size: 6,
  })
  expect(data.find(({ id }) => id === gone)?.file).toEqual({ kind: 'gone', why: 'missing' })
  const detail = (await member.call(`${at}/messages/${stored}`)).body as MessageDetail
  expect(detail).toMatchObject({ file: { kind: 'fetched' }, received: { media: { filename: 'photo.jpg' } } })
})

test('a file is shown in parts, with headers that keep browsers from running it', async () => {
  const { workspace, at, member } = await setUp()
  const id = await newReceivedFile(server, workspace, { bytes: Buffer.from('0123456789'), contentType: 'video/mp4' })
  const whole = await member.call(`${at}/messages/${id}/media`)
  expect([whole.status, whole.body]).toEqual([200, '0123456789'])
  const part = await member.call(`${at}/messages/${id}/media`, { headers: { range: 'bytes=2-4' } })
  expect([part.status, part.body, part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10'])
  for (const { headers } of [whole, part]) {
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': expect.stringMatching(/^attachment/),
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  }
  const outside = await member.call(`${at}/messages/${id}/media`, { headers: { range: 'bytes=10-' } })
  expect(outside.status).toBe(416)
})

test('a download is audited, showing is not, and the file of another workspace is not found', async () => {
  const { workspace, at, member } = await setUp()
  const id = await newReceivedFile(server, workspace, {})
  const entries = () =>
    server.db.rows<{ action: string; target: string }>(
      `select action, target from audit_entries where workspace_id = $1 and action like 'message.%'`,
      [workspace.id],
    )
  expect((await member.call(`${at}/messages/${id}/media`)).status).toBe(200)
  expect(await entries()).toEqual([])
  const { status, body } = await member.call(`${at}/messages/${id}/file`)
  expect([status, body]).toEqual([200, 'a file'])
  expect(await entries()).toEqual([{ action: 'message.download', target: id }])
  const other = await setUp()
  for (const path of ['media', 'file']) {
    expect((await other.member.call(`${other.at}/messages/${id}/${path}`)).status).toBe(404)
    expect((await other.member.call(`${at}/messages/${id}/${path}`)).status).toBe(404)
  }
})
