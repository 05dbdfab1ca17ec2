import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, goodPassword, newBrowser, type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { watchLive } from '../../../testing/live.ts'
import { serveApi, useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { defaultClientTimeouts } from '../limits/limits.ts'

/** Streams end because of a notice: the periodic check would come too late for these tests. */
const limits = { timeouts: { ...defaultClientTimeouts, streamCheckMs: 3_600_000 } }
const server = useTestServer({ limits })
let other: Awaited<ReturnType<typeof serveApi>>

beforeAll(async () => {
  other = await serveApi(server, newLogger('silent'), { limits })
})
afterAll(() => other.close())

/** A stream in each of two processes. */
async function watchBoth(person: Browser, workspaceId: string) {
  const streams = [await watchLive(server.url, person, workspaceId), await watchLive(other.url, person, workspaceId)]
  for (const stream of streams) await until('the stream begins', () => stream.text.includes('hello'))
  return streams
}

const idOf = async (person: SignedInPerson): Promise<string> => (await person.call('/session')).body.person.id

test('signing out ends the streams of that session in every process, and no others', async () => {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: id, role: 'member' })
  const device = newBrowser(server.url)
  await device.call('/sign-in', { method: 'POST', body: { email: person.email, password: goodPassword } })
  const [ending, staying] = [await watchBoth(person, id), await watchBoth(device, id)]
  expect((await person.call('/sign-out', { method: 'POST' })).status).toBe(204)
  for (const stream of ending) {
    await until('the stream ends', () => stream.ended)
    expect(stream.text).toMatch(/event: end\ndata: \{"reason":"signed_out"\}\n\n$/)
  }
  // They were checked too.
  for (const stream of staying) await until('the stream is checked', () => stream.text.includes('still here'))
  expect(staying.map(({ ended }) => ended)).toEqual([false, false])
  for (const stream of staying) stream.close()
})

test('ending a session on another device ends its streams', async () => {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: id, role: 'member' })
  const device = newBrowser(server.url)
  await device.call('/sign-in', { method: 'POST', body: { email: person.email, password: goodPassword } })
  const streams = await watchBoth(device, id)
  expect((await person.call('/account/sessions/revoke-others', { method: 'POST' })).body).toEqual({ ended: 1 })
  for (const stream of streams) await until('the stream ends', () => stream.ended)
})

test('removing a member ends their streams of that workspace, and no others', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const admin = await signedIn(server, { workspaceId: ours.id, role: 'admin' })
  const member = await signedIn(server, { workspaceId: ours.id, role: 'member' })
  const memberId = await idOf(member)
  await server.db.change(
    `insert into memberships (workspace_id, person_id, role, created_at) values ($1, $2, 'member', now())`,
    [theirs.id, memberId],
  )
  const [ending, staying] = [await watchBoth(member, ours.id), await watchBoth(member, theirs.id)]
  expect((await admin.call(`/w/${ours.id}/team/members/${memberId}`, { method: 'DELETE' })).status).toBe(204)
  for (const stream of ending) await until('the stream ends', () => stream.ended)
  for (const stream of staying) await until('the stream is checked', () => stream.text.includes('still here'))
  expect(staying.map(({ ended }) => ended)).toEqual([false, false])
  for (const stream of staying) stream.close()
})
