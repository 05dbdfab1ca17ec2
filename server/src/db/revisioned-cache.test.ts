import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FoundAt, type ReadAt, RevisionedCache } from './revisioned-cache.ts'

/** A statement reads the database when it runs. Its response arrives later, maybe after that of a later statement. */
interface Statement {
  keys: readonly string[]
  result?: ReadAt<string>
  respond(result: ReadAt<string>): void
}

/** A database that remembers every revision. `step` advances its statements. */
function newStore() {
  const history = [new Map<string, string>()]
  const current = () => history.length - 1
  let running: Statement[] = []
  return {
    current,
    at: (revision: number, key: string): string | null => history[revision]?.get(key) ?? null,
    change(key: string, isDeleted = false) {
      const next = new Map(history.at(-1))
      if (isDeleted) next.delete(key)
      else next.set(key, `${key} of ${history.length}`)
      history.push(next)
    },
    read: (requested: readonly string[]) =>
      new Promise<ReadAt<string>>((respond) => void running.push({ keys: requested, respond })),
    /** Runs a statement, or returns the result of a statement that has run. */
    async step(pick = 0) {
      const statement = running[pick % running.length]
      if (!statement) return
      if (statement.result) {
        running = running.filter((each) => each !== statement)
        statement.respond(statement.result)
      } else {
        const rows = [...(history.at(-1) ?? [])].filter(([key]) => statement.keys.includes(key))
        statement.result = { revision: current(), values: rows }
      }
      await turn()
    },
    running: () => running.length,
  }
}

const keys = ['a', 'b', 'c']
const key = fc.constantFrom(...keys)
const someKeys = fc.array(key, { maxLength: 3 })
const action = fc.oneof(
  fc.record({ kind: fc.constant('change' as const), key, isDeleted: fc.boolean() }),
  fc.record({ kind: fc.constant('find' as const), keys: someKeys, knowsRevision: fc.boolean() }),
  fc.record({ kind: fc.constant('step' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('step' as const), pick: fc.nat() }),
)

test('however changes and reads interleave, every value belongs to its revision, and the revision never goes back', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 20, maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      async (actions, max) => {
        const store = newStore()
        const cache = new RevisionedCache(store.read, max)
        const finds: Promise<void>[] = []
        let latest = 0
        const check = (requested: readonly string[], since: number) => (found: FoundAt<string>) => {
          expect(found.revision).toBeGreaterThanOrEqual(since)
          const expected = requested.map((each) => [each, store.at(found.revision, each)] as const)
          expect(found.values).toEqual(new Map(expected))
        }
        for (const each of actions) {
          if (each.kind === 'change') store.change(each.key, each.isDeleted)
          else if (each.kind === 'step') await store.step(each.pick)
          else {
            const since = store.current()
            finds.push(cache.find(each.keys, each.knowsRevision ? since : undefined).then(check(each.keys, since)))
          }
          for (let revision = 0; revision <= store.current(); revision++) {
            for (const one of keys) {
              const value = cache.get(one, revision)
              if (value === undefined) continue
              // Calling `expect` each time would take most of the time.
              if (value !== store.at(revision, one)) expect.unreachable(`${value} in revision ${revision}`)
              if (revision < latest) expect.unreachable(`revision ${revision} after ${latest}`)
              latest = revision
            }
          }
        }
        while (store.running() > 0) await store.step()
        await Promise.all(finds)
      },
    ),
    { numRuns: 500 },
  ))

/** A cache whose statements finish immediately, with a count of them. */
function newCounted(max: number) {
  const store = newStore()
  let statements = 0
  const cache = new RevisionedCache(async (keys) => {
    statements++
    const read = store.read(keys)
    await store.step()
    await store.step()
    return read
  }, max)
  const cost = async (keys: readonly string[], current?: number) => {
    const before = statements
    await cache.find(keys, current)
    return statements - before
  }
  return { store, cache, cost }
}

test('find takes one statement, none if the caller passes the revision, two if the revision changed', async () => {
  const { store, cache, cost } = newCounted(10)
  store.change('a')
  expect(await cost(['a', 'none'])).toBe(1)
  expect([cache.get('a'), cache.get('none'), cache.get('other')]).toEqual(['a of 1', null, undefined])
  expect(await cost(['a', 'none'])).toBe(1)
  expect(await cost(['a', 'none'], 1)).toBe(0)
  store.change('b')
  expect(await cost(['a', 'b'], 2)).toBe(1)
  store.change('c')
  expect(await cost(['a', 'c'])).toBe(2)
})

test('the oldest values are evicted first, and keys that do not exist never evict existing ones', async () => {
  const { store, cache } = newCounted(2)
  for (const each of ['a', 'b', 'c']) store.change(each)
  await cache.find(['a'])
  await cache.find(['b'])
  await cache.find(['x', 'y', 'z'])
  expect(['a', 'b', 'x', 'y', 'z'].map((each) => cache.get(each))).toEqual(['a of 1', 'b of 2', undefined, null, null])
  expect((await cache.find(['c', 'a', 'b'])).values.size).toBe(3)
  expect(['a', 'b', 'c'].filter((each) => cache.get(each))).toEqual(['b', 'c'])
})

test('a failed statement leaves the cache unchanged', async () => {
  let isDown = false
  const cache = new RevisionedCache(async () => {
    if (isDown) throw new Error('the database is down')
    return { revision: 7, values: [['a', 'value'] as const] }
  }, 10)
  await cache.find(['a'])
  isDown = true
  await expect(cache.find(['a'])).rejects.toThrow('down')
  expect((await cache.find(['a'], 7)).values.get('a')).toBe('value')
})

test('a lower revision, as after a failover, replaces the cached one', async () => {
  const database = { revision: 9, value: 'before' }
  const cache = new RevisionedCache(
    async () => ({ revision: database.revision, values: [['a', database.value] as const] }),
    10,
  )
  await cache.find(['a'])
  Object.assign(database, { revision: 4, value: 'after' })
  expect(await cache.find(['a'], 4)).toEqual({ revision: 4, values: new Map([['a', 'after']]) })
  expect(cache.get('a', 4)).toBe('after')
})
