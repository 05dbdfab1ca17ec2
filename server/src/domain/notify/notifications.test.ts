import { expect, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useMailingServer } from '../../../testing/mail.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { syncConnection } from '../connections/sync.ts'
import { giveCredits } from '../credits/credits.ts'
import { changeKey } from '../keys/keys.ts'
import { rotateKey } from '../keys/rotate.ts'
import { listProblems } from '../overview/problems.ts'
import { noticeExpiries } from './expiries.ts'

const { server, deliver, mailsTo } = await useMailingServer()
const network = useSimulator(server)
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()

async function newPeople(workspaceId: string) {
  return {
    admin: await signedIn(server, { workspaceId, role: 'admin' }),
    developer: await signedIn(server, { workspaceId, role: 'developer' }),
    member: await signedIn(server, { workspaceId, role: 'member' }),
  }
}

const subjectsOf = ({ email }: SignedInPerson) => mailsTo(email).map(({ subject }) => subject)

const choose = (person: SignedInPerson, kind: string, wanted: boolean) =>
  person.call('/account/notifications', { method: 'PATCH', body: { kind, wanted } })

test('people get one email when an endpoint has failed ten times in a row, and one when it is disabled', async () => {
  const line = await newLine(server)
  const { admin, developer, member } = await newPeople(line.workspace.id)
  await choose(developer, 'webhook_failing', false)
  const receiver = await newReceiver()
  receiver.behave(503)
  const { id } = await line.listen(receiver)
  await line.write(30)
  const failures = async () =>
    (await server.db.first<{ failures: number }>('select failures from webhooks where id = $1', [id.slice(4)]))
      ?.failures
  for (let turns = 0; turns < 40 && ((await failures()) ?? 0) < 10; turns++) {
    server.clock.forward({ seconds: 2 })
    await deliveries.worker.drain()
    await deliver(3)
    if (((await failures()) ?? 0) < 10) expect(subjectsOf(admin)).toEqual([])
  }
  await deliver(3)
  expect(subjectsOf(admin)).toEqual(['Test: Webhook “receiver” is failing'])
  expect(mailsTo(admin.email)[0]?.text).toContain(`http://parley.test/w/${line.workspace.id}/webhooks/${id}`)
  expect(subjectsOf(developer)).toEqual([])
  for (let turns = 0; turns < 20; turns++) {
    server.clock.forward({ seconds: 2 })
    await deliveries.worker.drain()
    await deliver(3)
  }
  const disabled = 'Test: Webhook “receiver” was disabled'
  expect(subjectsOf(admin)).toEqual(['Test: Webhook “receiver” is failing', disabled])
  expect(subjectsOf(developer)).toEqual([disabled])
  expect(subjectsOf(member)).toEqual([])
  expect(mailsTo(developer.email)[0]?.text).toContain('20 attempts in a row have failed')
  // The URL may contain a secret.
  expect(mailsTo(developer.email)[0]?.text).not.toContain(receiver.url)
})

test('people get one email when credits become low, until they were above the mark again', async () => {
  const { id } = await newWorkspace(server, 'Harbour Clinic')
  const { admin, developer, member } = await newPeople(id)
  const give = async (amount: number) => {
    await giveCredits(server.db, server.clock, id, amount, 'test')
    await deliver(3)
  }
  await give(150)
  await give(-50)
  await give(-10)
  expect(subjectsOf(admin)).toEqual(['Harbour Clinic: Credits are low: 100 left'])
  await choose(developer, 'credits_low', true)
  await give(50)
  await give(-140)
  expect(subjectsOf(admin)).toEqual([
    'Harbour Clinic: Credits are low: 100 left',
    'Harbour Clinic: No credits are left',
  ])
  expect(subjectsOf(developer)).toEqual(['Harbour Clinic: No credits are left'])
  expect(subjectsOf(member)).toEqual([])
})

test('an address gets at most twenty notifications in an hour', async () => {
  const { id } = await newWorkspace(server)
  const { admin } = await newPeople(id)
  await giveCredits(server.db, server.clock, id, 100, 'test')
  for (let times = 0; times < 23; times++) {
    await giveCredits(server.db, server.clock, id, 1, 'test')
    await giveCredits(server.db, server.clock, id, -1, 'test')
  }
  await deliver()
  expect(mailsTo(admin.email)).toHaveLength(20)
})

test('people get one email a week before a key expires, and none for a key that was rotated', async () => {
  const workspace = await newWorkspace(server)
  const { admin, member } = await newPeople(workspace.id)
  const inDays = (days: number) => new Date(server.clock.now().getTime() + days * 86_400_000)
  await workspace.newKey({ name: 'CRM', expiresAt: inDays(30) })
  const { key: rotated } = await workspace.newKey({ name: 'Shop', expiresAt: inDays(30) })
  await workspace.newKey({ name: 'Short', expiresAt: inDays(2) })
  const notice = async () => {
    await Promise.all([1, 2, 3].map(() => noticeExpiries(server.db, server.clock.now())))
    await deliver(3)
    return subjectsOf(admin).toSorted()
  }
  expect(await notice()).toEqual([])
  await server.passDays(1)
  const short = `Test: API key “Short” expires on ${inDays(1).toISOString().slice(0, 10)}`
  expect(await notice()).toEqual([short])
  await server.passDays(21)
  const rotation = { workspaceId: workspace.id, id: rotated.id, graceHours: 24, createdBy: 'test' } as const
  await server.db.transaction((tx) => rotateKey(tx, server.clock, rotation))
  expect(await notice()).toEqual([short])
  await server.passDays(1)
  const crm = `Test: API key “CRM” expires on ${inDays(7).toISOString().slice(0, 10)}`
  expect(await notice()).toEqual([crm, short])
  await server.passDays(1)
  expect(await notice()).toEqual([crm, short])
  expect(subjectsOf(member)).toEqual([])
})

test('a rotated key that has expired does not hide that the old one is about to', async () => {
  const workspace = await newWorkspace(server)
  const { admin } = await newPeople(workspace.id)
  const inHours = (hours: number) => new Date(server.clock.now().getTime() + hours * 3_600_000)
  const { key } = await workspace.newKey({ name: 'Backend', expiresAt: inHours(500) })
  const rotation = { workspaceId: workspace.id, id: key.id, graceHours: 24, createdBy: 'test' } as const
  server.clock.forward({ hours: 1 })
  const { key: newer } = await server.db.transaction((tx) => rotateKey(tx, server.clock, rotation))
  const warnings = async () => {
    await noticeExpiries(server.db, server.clock.now())
    await deliver(3)
    const viewer = { ...server, db: server.db.within(workspace.id), workspaceId: workspace.id, role: 'admin' as const }
    const problems = (await listProblems(viewer)).filter(({ kind }) => kind === 'key_expiring')
    return [subjectsOf(admin), problems.map(({ href }) => href)]
  }
  server.clock.forward({ hours: 14 })
  expect(await warnings()).toEqual([[], []])
  await changeKey(server.db, server.clock, newer.id, { expiresAt: inHours(1) }, workspace.id)
  server.clock.forward({ hours: 2 })
  const subject = `Test: API key “Backend” expires on ${inHours(8).toISOString().slice(0, 10)}`
  expect(await warnings()).toEqual([[subject], [`keys?open=${key.id}`]])
})

test('people and operators get one email a week before an access token expires, or half of its time before', async () => {
  // The simulated network has its own clock, and rejects a token that has expired there.
  const behindDays = Math.ceil((Date.now() - server.clock.now().getTime()) / 86_400_000)
  if (behindDays > 0) await server.passDays(behindDays)
  const workspace = await newWorkspace(server)
  const { admin, developer } = await newPeople(workspace.id)
  const operator = await signedIn(server, { operator: true })
  const account = network.newAccount()
  const { id } = await account.connect(workspace)
  const atSecond = Math.trunc(server.clock.now().getTime() / 1000) * 1000
  const [expiresAt, soon] = [new Date(atSecond + 20 * 86_400_000), new Date(atSecond + 17 * 86_400_000)]
  const notice = async () => {
    await noticeExpiries(server.db, server.clock.now())
    await deliver(3)
    return subjectsOf(admin)
  }
  expect(await notice()).toEqual([])
  network.control.tokens.change(account.token, { expiresAt: expiresAt.toISOString() })
  expect(await syncConnection(network.network, id)).toMatchObject({ kind: 'synced' })
  await server.passDays(12)
  expect(await notice()).toEqual([])
  await server.passDays(2)
  const subject = `Test: WhatsApp access token expires on ${expiresAt.toISOString().slice(0, 10)}`
  expect(await notice()).toEqual([subject])
  expect(await notice()).toEqual([subject])
  expect(subjectsOf(operator)).toEqual([subject])
  expect(subjectsOf(developer)).toEqual([])
  // A new token that does not expire.
  network.control.tokens.change(account.token, { expiresAt: null })
  await syncConnection(network.network, id)
  await server.passDays(1)
  expect(await notice()).toEqual([subject])
  // A token that lasts two days is announced a day before it expires.
  network.control.tokens.change(account.token, { expiresAt: soon.toISOString() })
  await syncConnection(network.network, id)
  expect(await notice()).toEqual([subject])
  await server.passDays(1)
  server.clock.forward({ minutes: 1 })
  const second = `Test: WhatsApp access token expires on ${soon.toISOString().slice(0, 10)}`
  expect(await notice()).toEqual([subject, second])
  const urls = network.control.log
    .list({ limit: 1_000_000 })
    .flatMap((line) => (line.kind === 'call' ? [line.url] : []))
  expect(urls.some((url) => url.includes('/debug_token?input_token='))).toBe(true)
  expect(urls.join()).not.toContain(account.token)
})
