import type { Template } from '@parley/contract/template'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { watchLive } from '../../../testing/live.ts'
import { type TestAccount, useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { openDatabase } from '../../db/db.ts'
import { newLogger } from '../../telemetry/logger.ts'
import type { TemplateChange } from '../../whatsapp/incoming/change.ts'
import { readWebhook } from '../../whatsapp/incoming/incoming.ts'
import { applyTemplateChange, listConnections, requireConnection } from './connections.ts'
import { newNetwork } from './network.ts'
import { drainSyncs, syncConnection, waitAfter } from './sync.ts'

const server = useTestServer()
const network = useSimulator(server)

async function connected(templates: string[] = ['hello']) {
  const workspace = await newWorkspace(server)
  const account = network.newAccount()
  for (const name of templates) account.addTemplate({ name })
  const connection = await account.connect(workspace)
  return { workspace, account, connection }
}

const templatesOf = async (workspace: TestWorkspace) =>
  ((await workspace.call('/v1/templates?limit=100')).body as { data: Template[] }).data

const templateOf = async (workspace: TestWorkspace, name: string) =>
  (await templatesOf(workspace)).find((template) => template.name === name)

const inSimulator = (account: TestAccount, name: string) => {
  const found = network.control.templates.list().find((one) => one.wabaId === account.wabaId && one.name === name)
  if (!found) throw new Error(`the simulator has no template ${name}`)
  return found
}

test('a sync applies new, changed, paused and deleted templates', async () => {
  const { workspace, account, connection } = await connected(['unchanged', 'changed', 'paused', 'deleted'])
  const before = await templatesOf(workspace)
  server.clock.forward({ minutes: 1 })
  account.addTemplate({ name: 'new' })
  inSimulator(account, 'changed').components = [{ type: 'BODY', text: '{{1}} and {{2}}' }]
  inSimulator(account, 'paused').status = 'PAUSED'
  await account.removeTemplate('deleted')
  expect(await syncConnection(network.network, connection.id)).toMatchObject({ kind: 'synced', templates: 4 })
  const after = Object.fromEntries((await templatesOf(workspace)).map((template) => [template.name, template]))
  const was = (name: string) => before.find((template) => template.name === name)
  expect(Object.keys(after).sort()).toEqual(['changed', 'new', 'paused', 'unchanged'])
  expect(after.unchanged).toEqual(was('unchanged'))
  expect(after.paused).toEqual({ ...was('paused'), status: 'PAUSED', updated_at: server.clock.now().toISOString() })
  expect(after.changed?.id).toBe(was('changed')?.id)
  expect(after.changed?.variables.map(({ key }) => key)).toEqual(['body.1', 'body.2'])
  expect(await workspace.call(`/v1/templates/${was('deleted')?.id}`)).toMatchObject({ status: 404 })
  account.addTemplate({ name: 'deleted' })
  await syncConnection(network.network, connection.id)
  expect((await templateOf(workspace, 'deleted'))?.id).toBe(was('deleted')?.id)
})

test('a sync refreshes the pages of templates if one is new, edited or gone, and the pages of senders always', async () => {
  const { workspace, account, connection } = await connected(['edited', 'deleted'])
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const stream = await watchLive(server.url, person, workspace.id)
  const newTopics = async () => {
    const from = stream.text.length
    // Notices arrive in their order.
    network.network.db.notify(workspace.id, 'forms')
    await until('the last notice arrives', () => stream.text.includes('"forms"', from))
    const text = stream.text.slice(from)
    return ['senders', 'templates'].filter((topic) => text.includes(`"${topic}"`))
  }
  const topicsOfSync = async () => {
    await newTopics()
    await syncConnection(network.network, connection.id)
    return newTopics()
  }
  // The page of a sender shows when its account was synced.
  expect(await topicsOfSync()).toEqual(['senders'])
  inSimulator(account, 'edited').components = [{ type: 'BODY', text: 'New text' }]
  expect(await topicsOfSync()).toEqual(['senders', 'templates'])
  account.addTemplate({ name: 'new', status: 'PENDING' })
  expect(await topicsOfSync()).toEqual(['senders', 'templates'])
  // It stays listed with the status of the notice, until a sync finds it gone.
  await account.removeTemplate('deleted')
  expect(await topicsOfSync()).toEqual(['senders', 'templates'])
  expect(await topicsOfSync()).toEqual(['senders'])
  network.control.tokens.change(account.token, { revoked: true })
  expect(await topicsOfSync()).toEqual(['senders'])
  stream.close()
})

test('a media link with a new signature does not change updated_at', async () => {
  const { workspace, account, connection } = await connected([])
  const header = (signature: string) => ({
    type: 'HEADER',
    format: 'IMAGE',
    example: { header_handle: [`https://scontent.example/box?sig=${signature}`] },
  })
  account.addTemplate({ name: 'picture', components: [header('one')] })
  await syncConnection(network.network, connection.id)
  const before = await templateOf(workspace, 'picture')
  server.clock.forward({ minutes: 1 })
  inSimulator(account, 'picture').components = [header('two')]
  await syncConnection(network.network, connection.id)
  const after = await templateOf(workspace, 'picture')
  expect(after?.updated_at).toBe(before?.updated_at)
  expect(JSON.stringify(after?.components)).toContain('sig=two')
})

test('a failed sync keeps the templates, stores the error and is retried after a minute', async () => {
  const { workspace, account, connection } = await connected()
  network.control.tokens.change(account.token, { revoked: true })
  server.clock.forward({ hours: 6 })
  await network.drain()
  expect(await templateOf(workspace, 'hello')).toBeTruthy()
  const failed = await requireConnection(server.db, connection.id)
  expect(failed.syncError).toMatch(/error 0\)/)
  expect(failed.syncedAt).toEqual(connection.syncedAt)
  expect(failed.syncDueAt.getTime() - server.clock.now().getTime()).toBe(60_000)
  const callsBefore = account.calls('message_templates')
  server.clock.forward({ seconds: 59 })
  await network.drain()
  expect(account.calls('message_templates')).toBe(callsBefore)
  server.clock.forward({ seconds: 1 })
  await network.drain()
  expect(account.calls('message_templates')).toBe(callsBefore + 1)
  network.control.tokens.change(account.token, { revoked: false })
  server.clock.forward({ minutes: 2 })
  await network.drain()
  expect(await requireConnection(server.db, connection.id)).toMatchObject({
    syncError: null,
    syncedAt: server.clock.now(),
  })
})

test('the retry wait grows from a minute to an hour, and is never shorter than the network asks for', () => {
  expect([1, 2, 3, 6, 7, 50].map((failures) => waitAfter(failures, null) / 60_000)).toEqual([1, 2, 4, 32, 60, 60])
  expect(waitAfter(1, 90_000)).toBe(90_000)
  expect(waitAfter(3, 1_000)).toBe(240_000)
})

test('every connection is synced every six hours by exactly one process', async () => {
  const { account, connection } = await connected()
  const others = await Promise.all([connected(), connected()])
  const accounts = [account, ...others.map((other) => other.account)]
  server.clock.forward({ hours: 5, minutes: 59 })
  await network.drain()
  expect(accounts.map((one) => one.calls('message_templates'))).toEqual([1, 1, 1])
  server.clock.forward({ minutes: 1 })
  const { clock, secretKeys } = server
  const { client } = network.network
  const dbs = [1, 2, 3].map(() => openDatabase(server.connection, () => {}, 2))
  const log = newLogger('silent')
  await Promise.all(dbs.map((db) => drainSyncs(newNetwork({ db, clock, secretKeys, client }), log)))
  await Promise.all(dbs.map((db) => db.close()))
  expect(accounts.map((one) => one.calls('message_templates'))).toEqual([2, 2, 2])
  expect((await requireConnection(server.db, connection.id)).syncDueAt.getTime() - clock.now().getTime()).toBe(
    21_600_000,
  )
})

test('concurrent syncs of one connection end with what the network lists', async () => {
  const { workspace, account, connection } = await connected()
  account.addTemplate({ name: 'second' })
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => syncConnection(network.network, connection.id)))
  expect(outcomes.filter((outcome) => outcome.kind === 'synced').length).toBeGreaterThan(0)
  expect(outcomes.every((outcome) => outcome.kind !== 'failed')).toBe(true)
  expect((await templatesOf(workspace)).length).toBe(2)
})

test('a sync that was overtaken does not overwrite the later one', async () => {
  const { workspace, account, connection } = await connected()
  const { client, ...rest } = network.network
  let markListed = () => {}
  const slow = Object.create(client) as typeof client
  const hasListed = new Promise<void>((resolve) => {
    markListed = resolve
  })
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  slow.listPhoneNumbers = client.listPhoneNumbers.bind(client)
  slow.inspectToken = client.inspectToken.bind(client)
  slow.listTemplates = async (access, wabaId) => {
    const listed = await client.listTemplates(access, wabaId)
    markListed()
    await held
    return listed
  }
  const first = syncConnection({ ...rest, client: slow }, connection.id)
  await hasListed
  account.addTemplate({ name: 'newer' })
  expect(await syncConnection(network.network, connection.id)).toMatchObject({ kind: 'synced', templates: 2 })
  goOn()
  expect(await first).toEqual({ kind: 'overtaken' })
  expect(await templateOf(workspace, 'newer')).toBeTruthy()
})

/** A template change as the network posts it. */
function change(account: TestAccount, field: string, value: Record<string, unknown>): TemplateChange {
  const entry = { id: account.wabaId, time: 1_790_000_000, changes: [{ field, value }] }
  return readWebhook({ object: 'whatsapp_business_account', entry: [entry] }, server.clock.now())[0] as TemplateChange
}

test('a template change from a webhook applies immediately, and a sync follows soon after', async () => {
  const { workspace, account, connection } = await connected(['hello', 'other'])
  server.clock.forward({ minutes: 5 })
  const template = {
    message_template_id: Number(inSimulator(account, 'hello').id),
    message_template_name: 'hello',
    message_template_language: 'en',
  }
  const paused = change(account, 'message_template_status_update', { ...template, event: 'PAUSED', reason: 'NONE' })
  expect(await applyTemplateChange(server.db, server.clock, connection.appId, paused)).toBe(true)
  expect(await templateOf(workspace, 'hello')).toMatchObject({
    status: 'PAUSED',
    updated_at: server.clock.now().toISOString(),
  })
  expect(await templateOf(workspace, 'other')).toMatchObject({ status: 'APPROVED' })
  const moved = change(account, 'template_category_update', { ...template, new_category: 'MARKETING' })
  await applyTemplateChange(server.db, server.clock, connection.appId, moved)
  expect(await templateOf(workspace, 'hello')).toMatchObject({ category: 'MARKETING', status: 'PAUSED' })
  const callsBefore = account.calls('message_templates')
  server.clock.forward({ seconds: 10 })
  await network.drain()
  expect(account.calls('message_templates')).toBe(callsBefore + 1)
  expect(await templateOf(workspace, 'hello')).toMatchObject({ category: 'UTILITY', status: 'APPROVED' })
})

test.each(['LOCKED', 'FLAGGED', 'HOLOGRAPHED'])(
  'the event %s is not a status: the template can still be sent',
  async (event) => {
    const { workspace, account, connection } = await connected()
    const about = { message_template_name: 'hello', message_template_language: 'en', reason: 'NONE' }
    const update = change(account, 'message_template_status_update', { ...about, event })
    const before = await templateOf(workspace, 'hello')
    server.clock.forward({ minutes: 5 })
    expect(await applyTemplateChange(server.db, server.clock, connection.appId, update)).toBe(true)
    expect(await templateOf(workspace, 'hello')).toEqual(before)
    const callsBefore = account.calls('message_templates')
    server.clock.forward({ seconds: 10 })
    await network.drain()
    expect(account.calls('message_templates')).toBe(callsBefore + 1)
  },
)

test('an unknown template is added by the next sync; a change from another app is ignored', async () => {
  const { workspace, account, connection } = await connected()
  const other = await connected(['theirs'])
  server.clock.forward({ minutes: 5 })
  account.addTemplate({ name: 'fresh' })
  const fresh = { event: 'APPROVED', message_template_name: 'fresh', message_template_language: 'en' }
  const update = change(account, 'message_template_status_update', fresh)
  expect(await applyTemplateChange(server.db, server.clock, other.connection.appId, update)).toBe(false)
  await network.drain()
  expect(await templateOf(workspace, 'fresh')).toBeUndefined()
  expect(await applyTemplateChange(server.db, server.clock, connection.appId, update)).toBe(false)
  server.clock.forward({ seconds: 10 })
  await network.drain()
  expect(await templateOf(workspace, 'fresh')).toBeTruthy()
})

test('a change that arrives during a sync is not lost', async () => {
  const { workspace, account, connection } = await connected()
  server.clock.forward({ minutes: 5 })
  const { client, ...rest } = network.network
  const slow = Object.create(client) as typeof client
  slow.listPhoneNumbers = client.listPhoneNumbers.bind(client)
  slow.inspectToken = client.inspectToken.bind(client)
  slow.listTemplates = async (access, wabaId) => {
    const listed = await client.listTemplates(access, wabaId)
    inSimulator(account, 'hello').status = 'PAUSED'
    const about = { event: 'PAUSED', message_template_name: 'hello', message_template_language: 'en' }
    const update = change(account, 'message_template_status_update', about)
    await applyTemplateChange(server.db, server.clock, connection.appId, update)
    return listed
  }
  await syncConnection({ ...rest, client: slow }, connection.id)
  server.clock.forward({ minutes: 1 })
  await network.drain()
  expect(await templateOf(workspace, 'hello')).toMatchObject({ status: 'PAUSED' })
})

test('a burst of changes triggers at most one sync a minute', async () => {
  const { account, connection } = await connected()
  const callsBefore = account.calls('message_templates')
  const update = change(account, 'message_template_quality_update', { message_template_name: 'hello' })
  for (let seconds = 0; seconds < 120; seconds += 10) {
    await applyTemplateChange(server.db, server.clock, connection.appId, update)
    await network.drain()
    server.clock.forward({ seconds: 10 })
  }
  expect(account.calls('message_templates') - callsBefore).toBeLessThanOrEqual(2)
})

test('connections are listed for one workspace, or for all', async () => {
  const { workspace, connection } = await connected()
  expect(await listConnections(server.db, workspace.id)).toMatchObject([{ id: connection.id }])
  expect((await listConnections(server.db)).length).toBeGreaterThan(1)
  await expect(syncConnection(network.network, 'nowhere')).rejects.toMatchObject({ code: 'not_found' })
})
