import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changeWebhook } from '../../../testing/change-webhook.ts'
import { localRules, newLine } from '../../../testing/deliveries.ts'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { open, type SecretKeys, seal } from '../../lib/seal.ts'
import { newVault } from '../connections/vault.ts'
import { webhookSecretContext } from '../deliveries/engine/attempt/targets.ts'
import { totpContext } from '../people/sign-in/two-factor.ts'
import { rotateWebhook, stageRotation } from '../webhooks/rotation.ts'
import { deleteWebhook } from '../webhooks/webhooks.ts'
import { checkSecrets } from './accounts.ts'
import { resealSecrets } from './reseal.ts'
import { secretKinds, secretsByKey } from './sealed.ts'

const server = useTestServer()
const world = useSimulator(server)
const operator = { personId: null, name: 'operator', address: null, userAgent: null }

let rounds = 0

/** The current keys and a new one before them, as after a change of PARLEY_SECRET_KEYS. */
function newKeys(current: SecretKeys): SecretKeys {
  return new Map([[`new_${++rounds}`, randomBytes(32)], ...current])
}

const firstOf = (keys: SecretKeys): SecretKeys => new Map([...keys].slice(0, 1))

const reseal = (keys: SecretKeys) => resealSecrets(server.db, server.clock, keys, operator)

/** Every stored secret, decrypted, by column and ID. */
async function readAll(keys: SecretKeys): Promise<Map<string, string>> {
  const secrets = new Map<string, string>()
  for (const { stored, context } of secretKinds) {
    const rows = await server.db.rows<{ id: string; sealed: string }>(
      `select id, ${stored.column} as sealed ${stored.from} where ${stored.column} is not null`,
    )
    for (const { id, sealed } of rows) secrets.set(`${stored.column} ${id}`, open(keys, sealed, context(id)))
  }
  return secrets
}

async function newPerson(keys: SecretKeys): Promise<void> {
  const id = newUuid(server.clock.now().getTime())
  await server.db.change(
    `insert into people (id, email, name, password_hash, totp_sealed, totp_confirmed_at, created_at)
     values ($1, $2, 'Ada', 'hash', $3, $4, $4)`,
    [id, `${id}@example.com`, seal(keys, `totp of ${id}`, totpContext(id)), server.clock.now()],
  )
}

const auditEntries = () =>
  server.db.rows(`select actor, before, after from audit_entries where action = 'secrets.reseal' order by at, id`)

test('every column with encrypted secrets is re-encrypted', async () => {
  const columns = await server.db.rows<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and column_name like '%sealed%' order by 1`,
  )
  const covered = secretKinds.map(({ stored }) => `${stored.from.replace('from ', '')}.${stored.column}`)
  expect(covered.sort()).toEqual(columns.map(({ name }) => name))
})

test('every context that a secret is encrypted with belongs to a column that is re-encrypted', () => {
  const folder = join(import.meta.dirname, '..')
  const sources = globSync('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts'] })
  const contexts = sources.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\bseal\([^;]*?,\s*(\w+)\((?:\w|\.)+\)\s*\)/g)].map(
      (match) => match[1] ?? '',
    ),
  )
  expect(contexts.length).toBeGreaterThanOrEqual(5)
  const listed = readFileSync(join(import.meta.dirname, 'sealed.ts'), 'utf8')
  // `sealed('app_secret', …)` and `exchanged(…)` pass the context on as an argument.
  expect([...new Set(contexts)].filter((name) => !listed.includes(`, ${name})`))).toEqual([])
})

test('re-encrypted secrets are readable with the first key alone, and the old key can be removed', async () => {
  const { secretKeys } = server
  const workspace = await newWorkspace(server)
  const connection = await world.newAccount().connect(workspace)
  const line = await newLine(server)
  const { id } = await line.listen({ url: 'http://127.0.0.1:9/' })
  await stageRotation(server.db, secretKeys, id)
  const headers = [{ name: 'Authorization', value: 'Bearer 1' }]
  await changeWebhook(server.db, server.clock, secretKeys, localRules, id, { headers })
  const { id: deleted } = await line.listen({ url: 'http://127.0.0.1:9/' })
  await deleteWebhook(server.db, server.clock, deleted)
  await newPerson(secretKeys)
  const before = await readAll(secretKeys)
  const columns = [...before.keys()].map((key) => key.split(' ')[0])
  for (const { stored } of secretKinds) expect(columns).toContain(stored.column)

  const keys = newKeys(secretKeys)
  expect(await checkSecrets(server.db, keys)).toMatchObject({
    verdict: 'ok',
    details: [
      `The key "new_${rounds}" encrypts 0 secrets.`,
      expect.stringMatching(/^The key "test" encrypts \d+ secrets\.$/),
    ],
    remedy: expect.stringContaining('./parley secrets reseal'),
  })
  const done = await reseal(keys)
  expect(done).toMatchObject({ unreadable: 0, notNeeded: ['test'], stillUsed: new Map() })
  expect(done.resealed.reduce((sum, { count }) => sum + count, 0)).toBe(before.size)
  expect(await readAll(firstOf(keys))).toEqual(before)
  const access = await newVault(server.db, firstOf(keys)).accessFor(connection.id)
  expect(access?.accessToken).toMatch(/^EAA/)
  expect(await checkSecrets(server.db, keys)).toMatchObject({
    verdict: 'ok',
    remedy: expect.stringContaining('Not needed any more: "test"'),
  })

  const entries = await auditEntries()
  expect(entries).toEqual([
    { actor: 'operator', before: { test: expect.any(Number) }, after: { key: `new_${rounds}` } },
  ])
  const again = await reseal(keys)
  expect(again.resealed.every(({ count }) => count === 0)).toBe(true)
  expect(await auditEntries()).toHaveLength(1)
  await reseal(new Map([...secretKeys, ...keys]))
})

test('a run that was stopped leaves every secret readable, and the next one finishes', async () => {
  const { secretKeys } = server
  for (let person = 0; person < 250; person++) await newPerson(secretKeys)
  const keys = newKeys(secretKeys)
  const before = await readAll(keys)
  const stop = (kind: { singular: string }) => {
    if (kind.singular === 'authenticator secret') throw new Error('stopped')
  }
  await expect(resealSecrets(server.db, server.clock, keys, operator, stop)).rejects.toThrow('stopped')
  expect(await readAll(keys)).toEqual(before)
  const half = await secretsByKey(server.db)
  expect(half.get('test')).toBeGreaterThanOrEqual(150)
  expect(half.get(`new_${rounds}`)).toBeGreaterThanOrEqual(100)
  expect(await reseal(keys)).toMatchObject({ notNeeded: ['test'] })
  expect(await readAll(firstOf(keys))).toEqual(before)
  await reseal(new Map([...secretKeys, ...keys]))
})

test('a secret that the service replaces at the same time is not overwritten', async () => {
  const { secretKeys } = server
  const { id } = await (await newLine(server)).listen({ url: 'http://127.0.0.1:9/' })
  const keys = newKeys(secretKeys)
  let running: ReturnType<typeof reseal> | undefined
  const { secret } = await server.db.transaction(async (tx) => {
    // A process that still has the old key first.
    const rotated = await rotateWebhook(tx, server.clock, secretKeys, id)
    running = reseal(keys)
    await until('the re-encryption waits for the row', async () =>
      server.db.first(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
    )
    return rotated
  })
  const done = await running
  expect([...(await readAll(keys)).values()]).toContain(secret)
  expect(done).toMatchObject({ stillUsed: new Map([['test', 1]]), notNeeded: [] })
  expect(await reseal(keys)).toMatchObject({ stillUsed: new Map(), notNeeded: ['test'] })
  expect([...(await readAll(firstOf(keys))).values()]).toContain(secret)
  await reseal(new Map([...secretKeys, ...keys]))
})

test('secrets whose key is missing stay as they are, and their key is reported as used', async () => {
  const { secretKeys } = server
  await newPerson(new Map([['lost', randomBytes(32)]]))
  const keys = newKeys(secretKeys)
  expect(await reseal(keys)).toMatchObject({ unreadable: 1, stillUsed: new Map([['lost', 1]]), notNeeded: ['test'] })
  await server.db.change(`delete from people where totp_sealed like 'lost:%'`)
  await reseal(new Map([...secretKeys, ...keys]))
})

test('an unreadable secret of a deleted webhook is not reported, as it is not used any more', async () => {
  const { id } = await (await newLine(server)).listen({ url: 'http://127.0.0.1:9/' })
  await deleteWebhook(server.db, server.clock, id)
  const uuid = id.replace('whk_', '')
  const encryptWith = (keys: SecretKeys) =>
    server.db.change('update webhooks set secret_sealed = $2 where id = $1', [
      uuid,
      seal(keys, 'whsec_', webhookSecretContext(uuid)),
    ])
  await encryptWith(new Map([['lost', randomBytes(32)]]))
  expect(await reseal(server.secretKeys)).toMatchObject({ unreadable: 0, stillUsed: new Map() })
  expect(await checkSecrets(server.db, server.secretKeys)).toMatchObject({ verdict: 'ok' })
  await encryptWith(server.secretKeys)
})

test('a staged secret does not make the health check report unreadable secrets', async () => {
  const { id } = await (await newLine(server)).listen({ url: 'http://127.0.0.1:9/' })
  await stageRotation(server.db, server.secretKeys, id)
  expect(await checkSecrets(server.db, server.secretKeys)).toMatchObject({ verdict: 'ok' })
})
