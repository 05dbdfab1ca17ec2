import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { recordAuditEntry, system } from '../audit/audit.ts'
import { listForConsole } from '../senders/console.ts'
import { changeNumber, type NumberChange, readBusinessProfile } from './numbers.ts'

const server = useTestServer()
const sending = useSending(server)

/** A shop, and changes of its number. */
async function newNumber() {
  const shop = await sending.newShop()
  const { control, network } = sending.network
  const inSimulator = control.numbers.list().find(({ phoneNumber }) => phoneNumber === shop.account.phoneNumber)
  const number = { workspaceId: shop.workspace.id, senderId: shop.senderId }
  const change = (wanted: NumberChange) =>
    changeNumber(network, number, wanted, (entry, tx) => recordAuditEntry(tx, server.clock, system, entry))
  const read = async () => (await listForConsole(server.db, number.workspaceId))[0]
  const entries = () =>
    server.db.rows<{ action: string; after: object }>(
      'select action, target_name, after from audit_entries where target = $1 order by at, id',
      [shop.senderId],
    )
  if (!inSimulator) throw new Error('the simulator has no such number')
  return { ...shop, number, change, read, entries, inSimulator }
}

const refused = (message: RegExp, param = 'sender') => ({
  code: 'validation_failed',
  message: expect.stringMatching(message),
  parts: { param, errors: [{ code: 'refused' }] },
})

test('a number is verified, registered and deregistered, and its sender shows it', async () => {
  const { change, read, entries, inSimulator, account } = await newNumber()
  Object.assign(inSimulator, { status: 'PENDING', codeVerificationStatus: 'NOT_VERIFIED', pin: null })
  const code = account.phoneNumber.slice(-6)
  const unverified = change({ action: 'register', pin: '314159' })
  await expect(unverified).rejects.toMatchObject(refused(/WhatsApp error 133006\)\. Request a code/))
  await expect(change({ action: 'verify_code', code: '000000' })).rejects.toMatchObject(refused(/136025/, 'code'))
  await change({ action: 'request_code', method: 'SMS', language: 'en' })
  await change({ action: 'verify_code', code: `${code.slice(0, 3)}-${code.slice(3)}` })
  expect(await read()).toMatchObject({ status: 'PENDING', verification_status: 'VERIFIED', has_pin: false })
  await change({ action: 'register', pin: '314159' })
  expect(await read()).toMatchObject({ status: 'CONNECTED', has_pin: true })
  await expect(change({ action: 'register', pin: '271828' })).rejects.toMatchObject(refused(/133005.*new one/, 'pin'))
  await change({ action: 'pin', pin: '271828' })
  expect(inSimulator.pin).toBe('271828')
  await change({ action: 'deregister' })
  expect(await read()).toMatchObject({ status: 'DISCONNECTED' })
  await expect(change({ action: 'deregister' })).rejects.toMatchObject(refused(/133010.*Register the number first/))
  const target_name = account.phoneNumber
  expect(await entries()).toEqual([
    { action: 'sender.request_code', target_name, after: { method: 'SMS' } },
    { action: 'sender.verify_code', target_name, after: {} },
    { action: 'sender.register', target_name, after: {} },
    { action: 'sender.pin', target_name, after: {} },
    { action: 'sender.deregister', target_name, after: {} },
  ])
})

test('a display name is requested, and its sender shows the review and the decision', async () => {
  const { change, read, connection } = await newNumber()
  const before = await read()
  sending.network.control.switches.set({ templateReviewMs: 3_600_000 })
  onTestFinished(() => void sending.network.control.switches.set({ templateReviewMs: 2000 }))
  await change({ action: 'name', name: '  Harbour Dental ' })
  expect(await read()).toMatchObject({
    display_name: before?.display_name,
    name_status: 'APPROVED',
    requested_name: 'Harbour Dental',
    requested_name_status: 'PENDING_REVIEW',
    messaging_limit: 'TIER_2K',
  })
  expect(connection.syncedAt).not.toBeNull()
})

test('a business profile is read and changed', async () => {
  const { change, number, entries } = await newNumber()
  const read = () => readBusinessProfile(sending.network.network, number)
  const empty = { about: '', address: '', description: '', email: '', category: '', websites: [] }
  expect(await read()).toEqual(empty)
  const profile = { about: 'Open 9 to 5', category: 'HEALTH', websites: ['https://clinic.example'] }
  await change({ action: 'profile', profile })
  expect(await read()).toEqual({ ...empty, ...profile })
  expect(await entries()).toMatchObject([{ action: 'sender.profile', after: profile }])
})

test.each<[NumberChange, string[]]>([
  [{ action: 'register', pin: '12345' }, ['pin']],
  [{ action: 'pin', pin: 'abcdef' }, ['pin']],
  [{ action: 'request_code', method: 'FAX', language: 'en' }, ['method']],
  [{ action: 'request_code', method: 'SMS', language: 'English' }, ['language']],
  [{ action: 'verify_code', code: '12-34' }, ['code']],
  [{ action: 'name', name: '  ' }, ['name']],
  [{ action: 'profile', profile: {} }, ['profile']],
  [
    {
      action: 'profile',
      profile: {
        about: '',
        address: 'x'.repeat(257),
        email: 'nobody',
        category: 'SHOES',
        websites: ['clinic.example', 'https://a.example', 'https://b.example'],
      },
    },
    ['address', 'about', 'email', 'category', 'websites', 'websites'],
  ],
])('%j is refused without a call', async (change, params) => {
  const number = { workspaceId: '00000000-0000-0000-0000-000000000000', senderId: 'snd_x' }
  const attempt = changeNumber(sending.network.network, number, change, async () => {})
  await expect(attempt).rejects.toMatchObject({ parts: { errors: params.map((param) => ({ param })) } })
})

test('a number of another workspace is not found', async () => {
  const { number } = await newNumber()
  const { workspace } = await sending.newShop()
  const foreign = { ...number, workspaceId: workspace.id }
  const attempt = changeNumber(sending.network.network, foreign, { action: 'deregister' }, async () => {})
  await expect(attempt).rejects.toMatchObject({ code: 'not_found' })
  await expect(readBusinessProfile(sending.network.network, foreign)).rejects.toMatchObject({ code: 'not_found' })
})

test('a change without a readable response is recorded as not confirmed, and no secret is repeated', async () => {
  const { change, entries, connection } = await newNumber()
  let status = 502
  const network = createServer((_request, response) => {
    response.writeHead(status).end(status === 502 ? '' : '{"error":{"code":100,"message":"Invalid pin 314159"}}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void network.close())
  await once(network, 'listening')
  const graphUrl = `http://127.0.0.1:${(network.address() as AddressInfo).port}`
  await server.db.change('update apps set graph_url = $2 where id = $1', [connection.appId, graphUrl])
  const attempt = () => change({ action: 'pin', pin: '314159' })
  await expect(attempt()).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(await entries()).toMatchObject([{ action: 'sender.pin', after: { confirmed: false } }])
  status = 400
  await expect(attempt()).rejects.toMatchObject({ message: expect.stringContaining('Invalid pin … (WhatsApp error') })
  network.close()
  network.closeAllConnections()
  await expect(attempt()).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(await entries()).toHaveLength(1)
})

test('a number that is also used in the Business app is paced at 20 messages a second', async () => {
  const { inSimulator, change, read } = await newNumber()
  expect(await read()).toMatchObject({ throughput: 'STANDARD' })
  inSimulator.isOnBizApp = true
  await change({ action: 'pin', pin: '314159' })
  expect(await read()).toMatchObject({ throughput: 'BUSINESS_APP' })
})

test('only admins who confirmed their identity manage a number in the console', async () => {
  const { number, read } = await newNumber()
  const path = `/w/${number.workspaceId}/senders/${number.senderId}`
  const body = { pin: '314159' }
  for (const role of ['developer', 'member'] as const) {
    const person = await signedIn(server, { workspaceId: number.workspaceId, role })
    expect((await person.call(`${path}/register`, { method: 'POST', body })).status).toBe(403)
    expect((await person.call(`${path}/profile`)).status).toBe(403)
  }
  const admin = await signedIn(server, { workspaceId: number.workspaceId, role: 'admin' })
  expect((await admin.call(`${path}/register`, { method: 'POST', body })).status).toBe(204)
  expect(await read()).toMatchObject({ has_pin: true })
  expect((await admin.call(`${path}/profile`)).body).toMatchObject({ about: '', websites: [] })
  const wrong = await admin.call(`${path}/register`, { method: 'POST', body: { pin: '271828' } })
  expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'pin' } } })
  server.clock.forward({ minutes: 11 })
  expect((await admin.call(`${path}/pin`, { method: 'PUT', body })).body.error.code).toBe('confirmation_required')
})
