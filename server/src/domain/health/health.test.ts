import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../../testing/database.ts'
import { newLine } from '../../../testing/deliveries.ts'
import { FakeClock } from '../../../testing/fake-clock.ts'
import { newReceivedFile } from '../../../testing/files.ts'
import { newApp, newSender, text, webhookOf } from '../../../testing/network-app.ts'
import { openTransaction } from '../../../testing/open-transaction.ts'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { openDatabase } from '../../db/db.ts'
import { readMaintenance, startMaintenance } from '../../db/maintenance.ts'
import { formatTime } from '../../lib/format.ts'
import { type AddressRange, readRange } from '../../net/addresses.ts'
import { ingressPath } from '../connections/apps.ts'
import { parkUpdates } from '../connections/parked.ts'
import { deleteOldUnknownNumbers } from '../connections/unknown-numbers.ts'
import { giveCredits } from '../credits/credits.ts'
import { disableWebhook } from '../webhooks/webhooks.ts'
import { listWorkspaces } from '../workspaces/workspaces.ts'
import { checkRole, checkTransactions } from './database.ts'
import { type Finding, type HealthDeps, instanceHealth } from './health.ts'

const server = useTestServer()
const world = useSimulator(server)

async function get(url: string) {
  const response = await fetch(url)
  return { status: response.status, text: await response.text() }
}

/** The findings by check. */
async function health(deps: Partial<HealthDeps> = {}, clock = server.clock): Promise<Record<string, Finding>> {
  const { secretKeys } = server
  const site = { publicUrl: server.url, trustProxy: [] }
  const { findings } = await instanceHealth(server.db, clock, {
    secretKeys,
    site,
    mediaBytesPerWorkspace: 1e6,
    ...deps,
  })
  return Object.fromEntries(findings.map((each) => [each.check, each]))
}

const verdicts = (found: Record<string, Finding>, ...checks: string[]) => checks.map((check) => found[check]?.verdict)

test('a healthy installation passes every check except the clock, which is faked here', async () => {
  const workspace = await newWorkspace(server)
  await giveCredits(server.db, server.clock, workspace.id, 1000, 'test')
  const account = world.newAccount()
  const { appId } = await account.connect(workspace)
  const app = world.control.apps.list().find(({ secret }) => secret === account.appSecret)
  const url = server.url + ingressPath(appId)
  await world.control.apps.setCallback(app?.id ?? '', { url, verifyToken: 'verify-me' })
  const maintenance = startMaintenance({ db: server.db, log: server.runtime.log, process: 'app-1:4711' }, [])
  onTestFinished(() => maintenance.stop())
  await until('the maintenance has an owner', async () => (await readMaintenance(server.db)).withoutOwnerMs === 0)
  const found = await health({ ledger: true, outside: { client: world.network.client, get } })
  const { clock, ...others } = found
  expect(clock?.verdict).toBe('problem')
  expect(Object.keys(others)).toHaveLength(32)
  for (const [check, { verdict, message, remedy }] of Object.entries(others)) {
    expect({ check, verdict, remedy }).toEqual({ check, verdict: 'ok', remedy: null })
    expect(message).not.toBe('')
  }
  expect(verdicts(await health({}, new FakeClock(new Date())), 'clock')).toEqual(['ok'])
})

test('an open transaction that keeps events from being read is reported', async () => {
  const open = await openTransaction(server.db, (tx) => tx.rows('select pg_current_xact_id()'))
  const { verdict, details } = await checkTransactions(server.db, 0)
  await open.commit()
  expect(verdict).toBe('warning')
  expect(details.join()).toContain(`database ${server.connection.database}, role parley, since `)
})

test('files that take 80 % of the quota are a warning', async () => {
  const workspace = await newWorkspace(server)
  expect(verdicts(await health(), 'file storage')).toEqual(['ok'])
  await newReceivedFile(server, workspace, { bytes: Buffer.alloc(810_000) })
  expect((await health())['file storage']).toMatchObject({
    verdict: 'warning',
    message: '1 workspace with 80 % of the storage quota used.',
    details: [expect.stringMatching(new RegExp(`^${workspace.id} .*: 81 % of 1 MB$`))],
  })
})

test('a database role that row-level security does not apply to is reported', async () => {
  const database = await newDatabase()
  const superuser = openDatabase({ ...database.connection, user: 'postgres' }, () => {}, 1)
  onTestFinished(async () => {
    await superuser.close()
    await database.drop()
  })
  expect(await checkRole(superuser)).toMatchObject({ verdict: 'warning', message: expect.stringContaining('postgres') })
  expect(await checkRole(server.db)).toMatchObject({ verdict: 'ok' })
})

test('secrets that cannot be decrypted are counted per kind of owner', async () => {
  const workspace = await newWorkspace(server)
  await world.newAccount().connect(workspace)
  await (await newLine(server)).listen({ url: 'http://127.0.0.1:9/' })
  const { secrets } = await health({ secretKeys: new Map([['other', randomBytes(32)]]) })
  expect(secrets).toMatchObject({ verdict: 'problem', effect: expect.stringContaining('"test"') })
  expect(secrets?.message).toMatch(/of \d+ apps?, \d+ of \d+ connections?, \d+ of \d+ webhooks?/)
  expect(secrets?.remedy).toContain('rotate')
})

test('a disabled endpoint is reported with its reason and its held events, and overdue deliveries with their delay', async () => {
  const line = await newLine(server)
  const { id } = await line.listen({ url: 'http://127.0.0.1:9/' })
  await line.write(2)
  expect(verdicts(await health(), 'deliveries', 'endpoints')).toEqual(['ok', 'ok'])
  server.clock.forward({ minutes: 5 })
  expect((await health()).deliveries).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('5 minutes'),
  })
  server.clock.forward({ minutes: 15 })
  expect(verdicts(await health(), 'deliveries')).toEqual(['problem'])
  await disableWebhook(server.db, server.clock, id, 'the shop moves servers')
  const { deliveries, endpoints } = await health()
  expect(deliveries?.verdict).toBe('ok')
  expect(endpoints?.message).toBe('1 webhook disabled, 2 events held.')
  expect(endpoints?.details).toEqual([
    expect.stringContaining(`${id} receiver (http://127.0.0.1:9/): disabled, 2 held. the shop moves servers`),
  ])
})

test('parked updates are reported with their numbers, since when, and why no sync found them', async () => {
  const workspace = await newWorkspace(server)
  const connection = await world.newAccount().connect(workspace)
  const update = { appId: connection.appId, wabaId: connection.wabaId, phoneNumberId: '106549000000009' }
  const since = server.clock.now()
  await parkUpdates(server.db, since, [
    { ...update, webhook: '{"one":1}' },
    { ...update, webhook: '{"two":2}' },
  ])
  expect((await health())['parked updates']).toMatchObject({
    verdict: 'ok',
    message: '2 updates parked for 1 phone number not synced yet.',
  })
  server.clock.forward({ minutes: 1 })
  const found = (await health())['parked updates']
  expect(found).toMatchObject({ verdict: 'warning', remedy: expect.stringContaining('connection sync') })
  expect(found?.details).toEqual([
    expect.stringMatching(
      new RegExp(`^106549000000009 .*: 2 updates since ${formatTime(since)}; the account did not list`),
    ),
  ])
  await server.db.change(`update connections set sync_failures = 1, sync_error = 'No such token.' where id = $1`, [
    connection.id,
  ])
  expect((await health())['parked updates']?.details[0]).toContain('the sync fails: No such token.')
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toMatch(/^parley_parked_updates 2$/m)
  expect(metrics).toMatch(/^parley_parked_updates_oldest_seconds 60$/m)
  await server.db.change('delete from parked_updates')
  await server.db.change('update connections set sync_failures = 0, sync_error = null where id = $1', [connection.id])
})

test('numbers of accounts that are not connected are counted and reported until their account is connected', async () => {
  expect((await health())['unknown numbers']).toMatchObject({ verdict: 'ok', actions: [] })
  const app = await newApp(server)
  const account = '102290000000777'
  const post = (phoneNumberId: string, ...messages: object[]) => {
    const body = webhookOf(phoneNumberId, messages)
    return app.post({ ...body, entry: body.entry.map((entry) => ({ ...entry, id: account })) })
  }
  expect(await post('106549000000777', text('wamid.1'), text('wamid.2'))).toBe(200)
  server.clock.forward({ minutes: 1 })
  expect(await post('106549000000777', text('wamid.3'))).toBe(200)
  const found = (await health())['unknown numbers']
  expect(found).toMatchObject({
    verdict: 'warning',
    message: 'Messages arrive for a number that no workspace has.',
    remedy: expect.stringContaining('connection create'),
    actions: [{ kind: 'connect_account', app_id: app.id, waba_id: account }],
  })
  expect(found?.details).toEqual([
    `106549000000777 (account ${account}, app test app ${app.id}): 3 updates, last at ${formatTime(server.clock.now())}`,
  ])

  // The numbers of one app are limited.
  for (let n = 0; n < 60; n++) await post(`1065490000010${n}`, text(`wamid.${n}`))
  const rows = await server.db.rows('select 1 from unknown_numbers where app_id = $1', [app.id])
  expect(rows).toHaveLength(50)
  expect(await post('106549000000777', text('wamid.4'))).toBe(200)
  expect((await health())['unknown numbers']?.details[0]).toContain('4 updates')

  const workspace = await newWorkspace(server)
  const sender = await newSender(server, workspace.id, app.id, '106549000000778')
  await server.db.change('update connections set waba_id = $2 where waba_id = $1', [sender.wabaId, account])
  expect((await health())['unknown numbers']?.verdict).toBe('ok')
  await deleteOldUnknownNumbers(server.db, server.clock.now())
  expect(await server.db.rows('select 1 from unknown_numbers where app_id = $1', [app.id])).toEqual([])
})

test('reports keys whose allowlist has every address, and workspaces without credits or at their warning level', async () => {
  for (const { id } of await listWorkspaces(server.db)) await giveCredits(server.db, server.clock, id, 1000, 'test')
  const low = await newWorkspace(server, 'Below its level')
  await giveCredits(server.db, server.clock, low.id, 101, 'test')
  const fresh = await newWorkspace(server, 'New')
  const workspace = await newWorkspace(server, 'Short of credits')
  const { key } = await workspace.newKey({ name: 'wide', allowedRanges: ['0.0.0.0/0', '198.51.100.0/24'] })
  await giveCredits(server.db, server.clock, workspace.id, 5, 'test')
  await giveCredits(server.db, server.clock, workspace.id, -5, 'test')
  const { keys, credits } = await health()
  expect(keys).toMatchObject({ verdict: 'warning', details: [expect.stringContaining(`${key.id} wide`)] })
  expect(keys?.remedy).toContain('key change')
  const left = ': 0 left (warning level 100), 0 spent in the last 24 hours'
  expect(credits?.details).toEqual([`${fresh.id} New${left}`, `${workspace.id} Short of credits${left}`])
  await giveCredits(server.db, server.clock, low.id, -1, 'test')
  const { verdict, details, actions } = (await health()).credits ?? {}
  expect([verdict, details?.at(-1)]).toEqual([
    'warning',
    `${low.id} Below its level: 100 left (warning level 100), 0 spent in the last 24 hours`,
  ])
  expect(actions).toContainEqual({ kind: 'add_credits', workspace_id: fresh.id, name: 'New' })
})

test('missing partitions for tomorrow are a problem', async () => {
  const clock = new FakeClock(new Date(server.clock.now().getTime() + 30 * 86_400_000))
  const { partitions } = await health({}, clock)
  expect(partitions).toMatchObject({ verdict: 'problem', message: expect.stringContaining('request_log') })
})

test('a process that does the maintenance is named, and so are steps that fail; without one for an hour it is a problem', async () => {
  const maintenance = startMaintenance({ db: server.db, log: server.runtime.log, process: 'app-2:4712' }, [
    { name: 'sign-ins', everyMs: 600_000, run: async (db) => void (await db.rows('select 1 / 0')) },
    { name: 'old files', everyMs: 600_000, run: async () => {} },
  ])
  onTestFinished(() => maintenance.stop())
  await until('both steps ran', async () => (await readMaintenance(server.db)).steps.length === 2)
  const found = (await health()).maintenance
  expect(found).toMatchObject({
    verdict: 'warning',
    message: expect.stringMatching(/^app-2:4712 does .*; 1 step failed\.$/),
  })
  expect(found?.details).toEqual([
    expect.stringMatching(/^sign-ins: failed at .* \(division by zero\), never succeeded$/),
  ])
  // A scrape is cached for two seconds.
  const metrics = await until('the metrics name the owner', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return /^parley_maintenance_owner\{process="app-2:4712"\} 1$/m.test(text) && text
  })
  expect(metrics).toMatch(/^parley_maintenance_step_failed\{step="sign-ins"\} 1$/m)
  expect(metrics).toMatch(/^parley_maintenance_step_failed\{step="old files"\} 0$/m)
  expect(metrics).toMatch(/^parley_maintenance_step_age_seconds\{step="old files"\} \d/m)

  await maintenance.stop()
  // Another process would take over now.
  expect((await health()).maintenance?.verdict).toBe('warning')
  await server.db.change(`update maintenance_steps set ended_at = ended_at - interval '5 minutes'`)
  expect((await health()).maintenance).toMatchObject({
    verdict: 'warning',
    message: 'No process does the maintenance. app-2:4712 did it last, 5 minutes ago.',
  })
  await server.db.change(`update maintenance_steps set ended_at = ended_at - interval '1 hour'`)
  expect((await health()).maintenance?.verdict).toBe('problem')
})

test('a revoked access token is reported with the network’s error message, without the token', async () => {
  const workspace = await newWorkspace(server)
  const account = world.newAccount()
  const connection = await account.connect(workspace)
  world.control.tokens.change(account.token, { revoked: true })
  const found = (await health({ outside: { client: world.network.client, get } }))['access tokens']
  expect(found?.verdict).toBe('problem')
  const details = found?.details.filter((line) => line.startsWith(connection.id))
  expect(details).toEqual([expect.stringContaining('unable to authenticate')])
  expect(details?.[0]).not.toContain(account.token)
})

test('the ingress check performs the handshake at PUBLIC_URL and reports another server or none', async () => {
  const impostor = createServer((_request, response) => void response.end('hello'))
  await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void impostor.close())
  const outside = { client: world.network.client, get }
  const at = async (publicUrl: string) => (await health({ outside, site: { publicUrl, trustProxy: [] } })).ingress
  expect(await at(server.url)).toMatchObject({ verdict: 'ok' })
  expect((await at(`http://127.0.0.1:${(impostor.address() as AddressInfo).port}`))?.details[0]).toContain('status 200')
  expect((await at('http://127.0.0.1:1'))?.details[0]).toMatch(/fetch failed/)
})

test.each([
  ['https://parley.example', [], 'warning'],
  ['https://parley.example', ['127.0.0.1/32'], 'ok'],
  ['http://127.0.0.1:8080', [], 'ok'],
  ['http://127.0.0.1:8080', ['0.0.0.0/0'], 'problem'],
  ['https://parley.example', ['10.0.0.0/8', '::/0'], 'problem'],
] as const)('proxies: PUBLIC_URL %s with PARLEY_TRUST_PROXY %j is %s', async (publicUrl, trusted, verdict) => {
  const trustProxy = trusted.map((text) => readRange(text) as AddressRange)
  expect(verdicts(await health({ site: { publicUrl, trustProxy } }), 'proxies')).toEqual([verdict])
})

test('a check that throws is reported as a problem, and the other checks still run', async () => {
  const failingDb = Object.create(server.db, {
    rows: {
      value: (text: string, values: unknown[]) =>
        text.includes('from outbox') ? Promise.reject(new Error('no such table')) : server.db.rows(text, values),
    },
  })
  const { findings, verdict } = await instanceHealth(failingDb, server.clock, {
    secretKeys: server.secretKeys,
    site: { publicUrl: server.url, trustProxy: [] },
    mediaBytesPerWorkspace: 1e6,
  })
  expect(verdict).toBe('problem')
  expect(findings.find(({ check }) => check === 'sending')).toMatchObject({
    message: expect.stringContaining('no such table'),
  })
  expect(findings.find(({ check }) => check === 'keys')?.message).toContain('active key')
})
