import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import { newUuid } from '../../lib/ids.ts'
import { seal } from '../../lib/seal.ts'
import { changeGraphUrl, createApp } from './apps.ts'
import { newVault } from './vault.ts'

const server = useTestServer()
const network = useSimulator(server)

const newApp = (appSecret: string, keys = server.secretKeys) =>
  createApp(server.db, server.clock, keys, { name: 'App', appSecret, verifyToken: `verify-${appSecret}` })

/** The test database, with a count of the queries. */
function countingDb(): { db: Db; queries: () => number } {
  let count = 0
  const db = Object.create(server.db) as Db
  db.rows = (text, values) => {
    count++
    return server.db.rows(text, values)
  }
  return { db, queries: () => count }
}

test('returns the secrets of an app and the token of a connection', async () => {
  const vault = newVault(server.db, server.secretKeys)
  const app = await newApp('one')
  expect(await vault.openApp(app.id)).toMatchObject({ id: app.id, appSecret: 'one', verifyToken: 'verify-one' })
  const account = network.newAccount()
  const connection = await account.connect(await newWorkspace(server))
  expect(await vault.accessFor(connection.id)).toMatchObject({
    graphUrl: network.simulator.url,
    accessToken: account.token,
  })
  for (const id of ['01890000-0000-7000-8000-000000000000', 'none', '', connection.id]) {
    expect(await vault.openApp(id)).toBeUndefined()
  }
})

test('a changed secret or Graph URL is used from the next lookup on, in every process', async () => {
  const vaults = [1, 2].map(() => newVault(server.db, server.secretKeys))
  const app = await newApp('before')
  for (const vault of vaults) expect(await vault.openApp(app.id)).toMatchObject({ appSecret: 'before' })
  const sealed = seal(server.secretKeys, 'after', `apps/${app.id}/app_secret`)
  await server.db.change('update apps set app_secret_sealed = $2 where id = $1', [app.id, sealed])
  for (const vault of vaults) expect(await vault.openApp(app.id)).toMatchObject({ appSecret: 'after' })

  const connection = await network.newAccount().connect(await newWorkspace(server))
  for (const vault of vaults)
    expect(await vault.accessFor(connection.id)).toMatchObject({ graphUrl: network.simulator.url })
  await changeGraphUrl(server.db, connection.appId, 'https://graph.example')
  for (const vault of vaults)
    expect(await vault.accessFor(connection.id)).toMatchObject({ graphUrl: 'https://graph.example' })
})

test('concurrent lookups share a statement', async () => {
  const { db, queries } = countingDb()
  const vault = newVault(db, server.secretKeys)
  const apps = await Promise.all(['a', 'b', 'c'].map((secret) => newApp(secret)))
  const lookups = Array.from({ length: 60 }, (_, index) => vault.openApp(apps[index % 3]?.id as string))
  const opened = await Promise.all(lookups)
  expect(opened.map((app) => app?.appSecret).slice(0, 3)).toEqual(['a', 'b', 'c'])
  expect(queries()).toBeLessThanOrEqual(2)
})

test('a sync that changes nothing leaves the cache valid', async () => {
  const { db, queries } = countingDb()
  const vault = newVault(db, server.secretKeys)
  const account = network.newAccount()
  const connection = await account.connect(await newWorkspace(server))
  const before = await vault.accessFor(connection.id)
  server.clock.forward({ hours: 6 })
  await network.drain()
  const queriesBefore = queries()
  const after = await vault.accessFor(connection.id)
  expect(after).toBe(before)
  expect(queries()).toBe(queriesBefore + 1)
})

test('a ciphertext copied to another row does not decrypt, and other lookups in the batch succeed', async () => {
  const vault = newVault(server.db, server.secretKeys)
  const [source, target, other] = await Promise.all(['one', 'two', 'three'].map((secret) => newApp(secret)))
  await server.db.change(
    'update apps set app_secret_sealed = (select app_secret_sealed from apps where id = $1) where id = $2',
    [source?.id, target?.id],
  )
  const lookups = [target, other].map((app) => vault.openApp(app?.id as string))
  const [copied, unchanged] = await Promise.allSettled(lookups)
  expect(copied).toMatchObject({ status: 'rejected' })
  expect(unchanged).toMatchObject({ status: 'fulfilled', value: { appSecret: 'three' } })
})

test('secrets encrypted with an older key decrypt while that key is configured', async () => {
  const app = await newApp('old')
  const newer: [string, Buffer] = ['newer', randomBytes(32)]
  const rotated = new Map([newer, ...server.secretKeys])
  const later = await newApp('new', rotated)
  const vault = newVault(server.db, rotated)
  expect(await vault.openApp(app.id)).toMatchObject({ appSecret: 'old' })
  expect(await vault.openApp(later.id)).toMatchObject({ appSecret: 'new' })
  await expect(newVault(server.db, new Map([newer])).openApp(app.id)).rejects.toThrow('PARLEY_SECRET_KEYS')
})

test('an app whose secret did not decrypt is not cached, and works once it has a new secret', async () => {
  const vault = newVault(server.db, server.secretKeys)
  const app = await newApp('lost', new Map([['gone', randomBytes(32)]]))
  await expect(vault.openApp(app.id)).rejects.toThrow()
  expect(vault.cachedApp(app.id)).toBeUndefined()
  const sealed = {
    secret: seal(server.secretKeys, 'found', `apps/${app.id}/app_secret`),
    token: seal(server.secretKeys, 'found', `apps/${app.id}/verify_token`),
  }
  await server.db.change('update apps set app_secret_sealed = $2, verify_token_sealed = $3 where id = $1', [
    app.id,
    sealed.secret,
    sealed.token,
  ])
  expect(vault.cachedApp(app.id)).toBeUndefined()
  expect(await vault.openApp(app.id)).toMatchObject({ appSecret: 'found' })
  expect(vault.cachedApp(app.id)).toMatchObject({ appSecret: 'found' })
})

test('lookups of unknown apps do not evict known apps from the cache', async () => {
  const { db, queries } = countingDb()
  const vault = newVault(db, server.secretKeys)
  const app = await newApp('kept')
  await vault.openApp(app.id)
  const before = queries()
  const unknown = await Promise.all(Array.from({ length: 12_000 }, () => vault.openApp(newUuid())))
  expect(unknown.every((each) => each === undefined)).toBe(true)
  expect(queries() - before).toBeLessThanOrEqual(13)
  expect(vault.cachedApp(app.id)).toMatchObject({ appSecret: 'kept' })
})

test('an app works immediately even if it was looked up before it existed', async () => {
  const vault = newVault(server.db, server.secretKeys)
  const app = await newApp('late')
  const [row] = await server.db.rows<Record<string, unknown>>('delete from apps where id = $1 returning *', [app.id])
  expect(await vault.openApp(app.id)).toBeUndefined()
  const columns = Object.keys(row ?? {})
  await server.db.change(
    `insert into apps (${columns.join(', ')}) values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row ?? {}),
  )
  expect(await vault.openApp(app.id)).toMatchObject({ appSecret: 'late' })
})
