import { expect, test } from 'vitest'
import { runBenches } from './run-benches.ts'
import type { Result } from './table.ts'

const ended = (bench: string): Result => ({ bench, rows: [], faults: [] })

test('a benchmark that fails does not stop the others, and has a result that says so', async () => {
  const results = await runBenches(['one', 'two', 'three'], {
    run: async (name) => {
      if (name === 'two') throw new Error('no disk')
      return ended(name)
    },
    say: () => {},
    signal: new AbortController().signal,
  })
  expect(results.map(({ bench, faults }) => [bench, ...faults])).toEqual([
    ['one'],
    ['two', 'Error: no disk'],
    ['three'],
  ])
})

test('after an interruption no other benchmark starts, and those that ended have results', async () => {
  const interrupted = new AbortController()
  const started: string[] = []
  const results = await runBenches(['one', 'two', 'three'], {
    run: async (name) => {
      started.push(name)
      if (name === 'two') interrupted.abort()
      return ended(name)
    },
    say: () => {},
    signal: interrupted.signal,
  })
  expect(started).toEqual(['one', 'two'])
  expect(results).toEqual([ended('one')])
})
