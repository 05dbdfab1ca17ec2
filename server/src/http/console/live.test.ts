import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { watchLive } from '../../../testing/live.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { defaultClientTimeouts } from '../limits/limits.ts'
import { LiveHub } from './live.ts'

const server = useTestServer({ limits: { timeouts: { ...defaultClientTimeouts, streamCheckMs: 50 } } })
const small = useTestServer({ limits: { liveStreams: 5 } })

const watch = (person: SignedInPerson, workspaceId: string, { url } = server) => watchLive(url, person, workspaceId)

test('the default interval ends a stream within a minute', () => {
  expect(defaultClientTimeouts.streamCheckMs).toBeLessThanOrEqual(30_000)
})

test('a stream ends with the reason signed_out when its session ends', async () => {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: id, role: 'member' })
  const stream = await watch(person, id)
  await until('the stream is checked', () => stream.text.includes('still here'))
  expect((await person.call('/sign-out', { method: 'POST' })).status).toBe(204)
  await until('the stream ends', () => stream.ended)
  expect(stream.text).toMatch(/event: end\ndata: \{"reason":"signed_out"\}\n\n$/)
})

test('a stream ends when the member is removed from the workspace', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const member = await signedIn(server, { workspaceId: id, role: 'member' })
  const stream = await watch(member, id)
  const memberId = (await member.call('/session')).body.person.id
  expect((await admin.call(`/w/${id}/team/members/${memberId}`, { method: 'DELETE' })).status).toBe(204)
  await until('the stream ends', () => stream.ended)
  expect((await watch(member, id)).status).toBe(404)
})

test('a stream has only the changes of its own workspace', async () => {
  const [own, other] = [await newWorkspace(server), await newWorkspace(server)]
  const person = await signedIn(server, { workspaceId: own.id, role: 'member' })
  const stream = await watch(person, own.id)
  await until('the stream begins', () => stream.text.includes('hello'))
  server.db.notify(other.id, 'orders')
  server.db.notify(own.id, 'forms')
  await until('the notice arrives', () => stream.text.includes('forms'))
  expect(stream.text).not.toContain('orders')
  expect((await watch(person, other.id)).status).toBe(404)
  stream.close()
})

test('an open stream does not extend the session', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const stream = await watch(admin, id)
  for (let hours = 0; hours < 12; hours += 4) {
    const before = stream.text.length
    server.clock.forward({ hours: 4 })
    await until('the stream is checked', () => stream.text.length > before || stream.ended)
  }
  server.clock.forward({ hours: 1 })
  await until('the stream ends', () => stream.ended)
  expect((await admin.call('/session')).status).toBe(401)
})

test('the sixth stream of a person ends the first', async () => {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: id, role: 'member' })
  const streams: Awaited<ReturnType<typeof watch>>[] = []
  for (let index = 0; index < 6; index++) streams.push(await watch(person, id))
  await until('the first stream ends', () => streams[0]?.ended === true)
  expect(streams[0]?.text).toContain('too_many')
  expect(streams.slice(1).some(({ ended }) => ended)).toBe(false)
  for (const stream of streams) stream.close()
})

test('the streams of a process are limited, and a person with the most of them may still open one', async () => {
  const { id } = await newWorkspace(small)
  const [first, second] = [
    await signedIn(small, { workspaceId: id, role: 'member' }),
    await signedIn(small, { workspaceId: id, role: 'member' }),
  ]
  const streams: Awaited<ReturnType<typeof watch>>[] = []
  for (let index = 0; index < 5; index++) streams.push(await watch(first, id, small))
  const refused = await watch(second, id, small)
  expect(refused.status).toBe(503)
  await until('the reason is read', () => refused.text.includes('too many open live streams'))
  const sixth = await watch(first, id, small)
  expect(sixth.status).toBe(200)
  for (const stream of [...streams, sixth]) stream.close()
  await until('a stream is accepted again', async () => {
    const stream = await watch(second, id, small)
    stream.close()
    return stream.status === 200
  })
})

test('a browser that has stopped reading is disconnected after 64 KiB', () => {
  const hub = new LiveHub(30_000, 1)
  onTestFinished(() => hub.stop())
  const stream = new PassThrough()
  hub.watch({ workspaceId: 'w', personId: 'p', stream, check: async () => true })
  let unread = 0
  for (let notices = 0; notices < 10_000 && !stream.destroyed; notices++) {
    unread = stream.writableLength
    hub.publish({ workspaceId: 'w', topic: 'messages' })
  }
  expect(stream.destroyed).toBe(true)
  expect(unread).toBeGreaterThan(65_536)
  expect(unread).toBeLessThan(65_636)
})

test('HEAD opens no stream', async () => {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: id, role: 'member' })
  const stream = await watch(person, id)
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  for (let n = 0; n < 5; n++) {
    const head = await fetch(`${server.url}/console/api/w/${id}/live`, { method: 'HEAD', headers: { cookie } })
    expect(head.status).toBe(404)
  }
  server.db.notify(id, 'forms')
  await until('the notice arrives', () => stream.text.includes('forms') || stream.ended)
  expect(stream.ended).toBe(false)
  stream.close()
})
