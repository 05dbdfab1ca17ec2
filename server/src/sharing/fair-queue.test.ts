import { expect, test } from 'vitest'
import { type Client, FairQueue } from './fair-queue.ts'

const attacker: Client = { key: 'attacker', isKnown: false }
const stranger: Client = { key: 'stranger', isKnown: false }
const regular: Client = { key: 'regular', isKnown: true }

function newQueue() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const queue = new FairQueue({
    running: 2,
    waitingPerOwner: 3,
    waiting: 4,
    refusal: (reason) => new Error(reason),
  })
  return {
    begun,
    run: (client: Client, name: string) =>
      queue.run(
        client.key,
        () => {
          begun.push(name)
          return new Promise<string>((resolve) => ends.push(() => resolve(name)))
        },
        client.isKnown,
      ),
    async endAll() {
      for (let end = ends.shift(); end; end = ends.shift()) {
        end()
        await new Promise(setImmediate)
      }
    },
  }
}

test('clients take turns, known clients first, and only the client that fills its queue is refused', async () => {
  const { begun, run, endAll } = newQueue()
  const runs = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run(attacker, name))
  await expect(run(attacker, 'a6')).rejects.toThrow('owner is full')
  runs.push(run(stranger, 's1'))
  await expect(run({ key: 'another', isKnown: false }, 'x')).rejects.toThrow('queue is full')
  runs.push(run(regular, 'r1'))
  await endAll()
  expect(begun).toEqual(['a1', 'a2', 'r1', 'a3', 's1', 'a4', 'a5'])
  expect((await Promise.all(runs)).sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'r1', 's1'])
})

test('a function that fails frees its slot', async () => {
  const { run, endAll } = newQueue()
  const held = run(attacker, 'held')
  const failing = new FairQueue({
    running: 1,
    waitingPerOwner: 1,
    waiting: 1,
    refusal: () => new Error('full'),
  })
  await expect(failing.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await failing.run('a', async () => 'next')).toBe('next')
  await endAll()
  expect(await held).toBe('held')
})
