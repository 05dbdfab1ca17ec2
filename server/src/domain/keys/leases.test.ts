import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '@parley/contract/scopes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase } from '../../../testing/database.ts'
import { useHouse } from '../../../testing/house.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { type Database, openDatabase } from '../../db/db.ts'
import { systemClock } from '../../lib/clock.ts'
import { newLogger } from '../../lib/logger.ts'
import { createWorkspace, resumeWorkspace, suspendWorkspace } from '../workspaces/workspaces.ts'
import { type Keeper, startKeeper } from './keeper.ts'
import { changeKey, createKey, type Key, revokeKey } from './keys.ts'
import { rotateKey } from './rotate.ts'

// One process, which is alone and so decides without asking; at-once.test.ts has the same for three.
const house = useHouse()

/** A key in steady use: the process has a lease all the time, and its copy of the key is good. */
async function inUse() {
  const workspace = await newWorkspace(house)
  const { key, secret } = await workspace.newKey({ budget: 100 })
  const outcome = async () => {
    const { status, body } = await house.call('/v1/me', { key: secret })
    return status === 200 ? 'ok' : (body as { error: { code: string } }).error.code
  }
  const seen: string[] = []
  const use = { goesOn: true }
  const using = (async () => {
    while (use.goesOn) seen.push(await outcome())
  })()
  while (seen.length < 3) await nextTurn()
  const stop = async () => {
    use.goesOn = false
    await using
  }
  return { workspace, key, outcome, stop }
}

type Used = Awaited<ReturnType<typeof inUse>>

const changes: [what: string, change: (used: Used) => Promise<unknown>, then: string][] = [
  ['revoked', ({ key }) => revokeKey(house.db, house.clock, key.id), 'key_revoked'],
  [
    'rotated',
    ({ key, workspace }) =>
      house.db.transaction((tx) =>
        rotateKey(tx, house.clock, { workspaceId: workspace.id, id: key.id, graceHours: 0, createdBy: 'test' }),
      ),
    'key_revoked',
  ],
  [
    'suspended',
    ({ workspace }) => suspendWorkspace(house.db, house.clock, workspace.id, 'test'),
    'workspace_suspended',
  ],
  [
    'bound',
    ({ key }) => changeKey(house.db, house.clock, key.id, { allowedRanges: ['192.0.2.0/24'] }),
    'ip_not_allowed',
  ],
  ['out of budget', ({ key }) => changeKey(house.db, house.clock, key.id, { budget: 1 }), 'rate_limited'],
]

for (const [what, change, then] of changes) {
  test(`a key in steady use that is ${what} is so for the next request`, async () => {
    for (let round = 0; round < 5; round++) {
      const used = await inUse()
      await change(used)
      expect(await used.outcome()).toBe(then)
      await used.stop()
      await resumeWorkspace(house.db, used.workspace.id)
    }
  })
}

let db: Database
let drop = async () => {}
let keeper: Keeper
let key: Key

beforeAll(async () => {
  const made = await newDatabase()
  drop = made.drop
  db = openDatabase(made.connection, () => {}, 5)
  const workspace = await createWorkspace(db, systemClock, 'Shop')
  key = (await createKey(db, systemClock, { workspaceId: workspace.id, name: 'shop', scopes, createdBy: 'test' })).key
  keeper = await startKeeper(db, systemClock, newLogger('silent'))
})
afterAll(async () => {
  await keeper.stop()
  await db.close()
  await drop()
})

/** The revision, by a look that gives a lease if there is one to be had. */
const look = (of: Keeper = keeper): Promise<number> => of.charge(-1, new Map())

test('a lease is good for the revision that was seen, for a moment', async () => {
  const revision = await look()
  expect(keeper.leased(revision)).toBeDefined()
  expect(keeper.leased(revision - 1)).toBeUndefined()
  await sleep(60)
  expect(keeper.leased(revision)).toBeUndefined()
})

test('there is none while a change is about to be made', async () => {
  const revision = await look()
  expect(keeper.leased(revision)).toBeDefined()
  await db.transaction(async (tx) => {
    await tx.rows('select outwait_leases()')
    await look()
    expect(keeper.leased(revision)).toBeUndefined()
  })
  await look()
  expect(keeper.leased(revision)).toBeDefined()
})

test('no change is made before the last lease is over, though leases are renewed all the time', async () => {
  for (let round = 0; round < 10; round++) {
    const revision = await look()
    let changed = false
    const changing = changeKey(db, systemClock, key.id, { name: `round ${round}` }).then(() => {
      changed = true
    })
    while (!changed) {
      keeper.leased(revision)
      await nextTurn()
    }
    expect(keeper.leased(revision)).toBeUndefined()
    await changing
    expect(await look()).toBe(revision + 1)
  }
})

test('a second process ends the leases of the first, and the last one left has them again', async () => {
  const revision = await look()
  expect(keeper.leased(revision)).toBeDefined()
  const second = await startKeeper(db, systemClock, newLogger('silent'))
  expect(keeper.leased(revision)).toBeUndefined()
  await look()
  await look(second)
  expect([keeper.leased(revision), second.leased(revision)]).toEqual([undefined, undefined])
  await keeper.stop()
  await expect
    .poll(async () => second.leased(await look(second)) !== undefined, { timeout: 8000, interval: 100 })
    .toBe(true)
  await second.stop()
  keeper = await startKeeper(db, systemClock, newLogger('silent'))
})

test('a keeper that hangs does not keep another process from starting, which counts in the database then', async () => {
  await keeper.stop()
  const hanging = await db.session()
  await hanging.rows('select pg_advisory_lock(7215500)')
  await hanging.rows('update access_revision set keeper = gen_random_uuid()')
  keeper = await startKeeper(db, systemClock, newLogger('silent'), 50)
  const charge = { subject: `k:${key.id}`, amount: 1, budget: 30, granted: 0, used: 0, msLeft: 0 }
  const revision = await look()
  expect(await keeper.charge(revision, new Map([[charge.subject, charge]]))).toBe(revision)
  expect([charge.granted, keeper.leased(revision)]).toEqual([1, undefined])
  await hanging.close()
  await expect.poll(async () => keeper.leased(await look()) !== undefined, { timeout: 8000, interval: 100 }).toBe(true)
})
