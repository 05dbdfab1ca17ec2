import { expect, test } from 'vitest'
import { inTurn, rowOf } from './in-turn.ts'

test('each round measures all subjects, another one first', async () => {
  const order: string[] = []
  const measured = await inTurn(['a', 'b'], 3, async (subject, round) => {
    order.push(subject)
    return round * 10 + (subject === 'a' ? 1 : 2)
  })
  expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b'])
  expect(measured.of('b')).toEqual([2, 12, 22])
  const row = rowOf(measured, (value) => value, { what: 'value', unit: 'ms', subject: 'b', base: 'a' })
  expect(row).toMatchObject({ rounds: [2, 12, 22], base: { name: 'a', rounds: [1, 11, 21] } })
})
