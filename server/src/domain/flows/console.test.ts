import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { type FileOptions, newFile } from '../../../testing/files.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'

const server = useTestServer()

async function newWorkspaceWithMember() {
  const workspace = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const at = `/w/${workspace.id}/forms`
  /** Submits a form with a file; returns its id. */
  const submit = async (file: FileOptions = {}) => {
    server.clock.forward({ seconds: 1 })
    return (await newFile(server, workspace, file)).split('/')[3] ?? ''
  }
  return { workspace, person, at, submit }
}

const download = (by: SignedInPerson, path: string) =>
  fetch(`${server.url}/console/api${path}`, {
    headers: { cookie: [...by.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
  })

test('every role can read submitted forms with the state of their files', async () => {
  const { workspace, at, submit } = await newWorkspaceWithMember()
  const id = await submit({ gone: 'too_large' })
  for (const role of roles) {
    const person = await signedIn(server, { workspaceId: workspace.id, role })
    const { body } = await person.call(at)
    expect(body.data).toMatchObject([
      { id, from: '16505550123', files: [{ index: 0, state: { kind: 'gone', why: 'too_large' } }] },
    ])
    expect((await person.call(`${at}/${id}`)).body).toEqual(body.data[0])
  }
})

test('pages neither repeat nor skip forms while new ones arrive, and filters apply', async () => {
  const { person, at, submit } = await newWorkspaceWithMember()
  const ids = [await submit(), await submit(), await submit()]
  const first = (await person.call(`${at}?limit=2`)).body
  await submit()
  const second = (await person.call(`${at}?limit=2&cursor=${first.next_cursor}`)).body
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.toReversed())
  expect((await person.call(`${at}?phone=16505550123`)).body.data).toHaveLength(4)
  expect((await person.call(`${at}?phone=16505550124`)).body.data).toEqual([])
  expect((await person.call(`${at}?flow=1`)).body.data).toEqual([])
  expect((await person.call(`${at}?phone=abc`)).status).toBe(400)
})

test('a file is downloaded as an attachment that browsers neither display nor run', async () => {
  const { person, at, submit } = await newWorkspaceWithMember()
  const bytes = Buffer.alloc(700_000, 'x')
  const id = await submit({ bytes, fileName: 'träumerei "1".jpg', contentType: 'image/jpeg' })
  const response = await download(person, `${at}/${id}/files/0`)
  expect(response.status).toBe(200)
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  const header = (name: string) => response.headers.get(name)
  expect(header('content-disposition')).toContain(`filename*=UTF-8''tr%C3%A4umerei%20%221%22.jpg`)
  expect(header('content-disposition')).toMatch(/^attachment;/)
  expect(header('content-type')).toBe('image/jpeg')
  expect(header('content-length')).toBe('700000')
  expect(header('x-content-type-options')).toBe('nosniff')
  expect(header('content-security-policy')).toBe("sandbox; default-src 'none'")
  expect(header('cache-control')).toBe('no-store')
})

test('a file is shown in parts, as a player requests it, and that is not audited', async () => {
  const { workspace, person, at, submit } = await newWorkspaceWithMember()
  const id = await submit({ bytes: Buffer.from('0123456789'), contentType: 'video/mp4' })
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const part = await fetch(`${server.url}/console/api${at}/${id}/files/0/media`, {
    headers: { cookie, range: 'bytes=2-5' },
  })
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-5/10', '2345'])
  expect(part.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  expect((await admin.call(`/w/${workspace.id}/audit?action=form.download`)).body.data).toEqual([])
  const other = await newWorkspaceWithMember()
  expect((await other.person.call(`${other.at}/${id}/files/0/media`)).status).toBe(404)
})

test('an expired file gets 410; an unknown one or one of another workspace gets 404', async () => {
  const { person, at, submit } = await newWorkspaceWithMember()
  const gone = await submit({ gone: 'retention' })
  expect(await person.call(`${at}/${gone}/files/0`)).toMatchObject({
    status: 410,
    body: { error: { code: 'file_expired' } },
  })
  const other = await newWorkspaceWithMember()
  const theirs = await other.submit()
  for (const path of [`${theirs}`, `frs_${newUuid()}`, 'frs_x']) {
    expect((await person.call(`${at}/${path}`)).status, path).toBe(404)
    expect((await person.call(`${at}/${path}/files/0`)).status, path).toBe(404)
  }
  expect((await person.call(`${at}/${gone}/files/1`)).status).toBe(404)
  expect((await person.call(`${other.at}/${theirs}/files/0`)).status).toBe(404)
  expect((await fetch(`${server.url}/console/api${at}/${gone}/files/0`)).status).toBe(401)
})
