import { expect, test } from 'vitest'
import { signedIn } from '../../../../testing/console.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { upload } from '../../../../testing/uploads.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'

const server = useTestServer()
const sending = useSending(server)

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function sendImage(shop: TestShop, image: object): Promise<string> {
  const { status, body } = await shop.send({ to: '16505550123', type: 'image', image })
  expect(status, JSON.stringify(body)).toBe(202)
  return (body as { id: string }).id
}

async function setUp() {
  const shop = await sending.newShop()
  const { id: workspaceId, secret } = shop.workspace
  const member = await signedIn(server, { workspaceId, role: 'member' })
  const { body: media } = await upload({ url: server.url, secret }, png)
  const id = await sendImage(shop, { id: media.id, caption: 'Look' })
  return { shop, workspaceId, member, id, path: `/w/${workspaceId}/messages/${id}` }
}

test('an uploaded file that was sent is listed with its type and size, and shown and downloaded from here', async () => {
  const { member, workspaceId, id, path } = await setUp()
  const { data } = (await member.call(`/w/${workspaceId}/messages`)).body
  expect(data).toMatchObject([{ id, file: { kind: 'fetched', content_type: 'image/png', size: png.length } }])
  expect((await member.call(path)).body.file).toMatchObject({ kind: 'fetched' })
  const contact = (await member.call(`/w/${workspaceId}/contacts/16505550123/messages`)).body
  expect(contact.data).toMatchObject([{ id, file: { kind: 'fetched' } }])
  const cookie = [...member.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  for (const part of ['media', 'file']) {
    const response = await fetch(`${server.url}/console/api${path}/${part}`, { headers: { cookie } })
    expect([response.status, response.headers.get('content-type')], part).toEqual([200, 'image/png'])
    expect(Buffer.from(await response.arrayBuffer()).equals(png), part).toBe(true)
  }
})

test('a file that was sent by link is not stored, so it is not shown', async () => {
  const { shop, member, workspaceId } = await setUp()
  const id = await sendImage(shop, { link: 'https://example.com/a.png' })
  expect((await member.call(`/w/${workspaceId}/messages/${id}`)).body.file).toBeNull()
  expect((await member.call(`/w/${workspaceId}/messages/${id}/media`)).status).toBe(404)
})

test('the file of a message whose content was removed is not shown', async () => {
  const { member, path, id } = await setUp()
  await server.db.change('update messages set content_removed_at = now() where id = $1', [id.slice(4)])
  expect((await member.call(path)).body.file).toBeNull()
  expect((await member.call(`${path}/media`)).status).toBe(404)
})

test('the files of other workspaces are not found', async () => {
  const { id } = await setUp()
  const other = await newWorkspace(server)
  const stranger = await signedIn(server, { workspaceId: other.id, role: 'admin' })
  for (const part of ['media', 'file']) {
    expect((await stranger.call(`/w/${other.id}/messages/${id}/${part}`)).status, part).toBe(404)
  }
})
