import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { newUuid } from '../../../lib/ids.ts'
import { newCursors } from './cursor.ts'
import { notBeyond } from './position.ts'

test('a cursor keeps its content, has one size, and is valid for its workspace only', () => {
  const cursors = newCursors(new Map([['test', randomBytes(32)]]))
  const [workspaceId, history, id] = [newUuid(), newUuid(), newUuid()]
  for (const transactionId of [0n, 700n, 2n ** 64n - 1n]) {
    const cursor = { history, unreadFrom: new Date('2026-11-16T12:00:00.123Z'), place: { transactionId, id } }
    const text = cursors.write(workspaceId, cursor)
    expect(text).toHaveLength(87)
    expect(cursors.read(workspaceId, text)).toEqual(cursor)
    for (const [workspace, changed] of [
      [newUuid(), text],
      [workspaceId, text.slice(0, -2)],
      [workspaceId, `x${text}`],
      [workspaceId, ''],
    ] as const) {
      expect(() => cursors.read(workspace, changed)).toThrow('Invalid cursor')
    }
  }
})

test('after a failover a place goes back to where the new server may have used transaction IDs again', () => {
  const place = { transactionId: 100n, id: newUuid() }
  expect(notBeyond(place, 101n)).toBe(place)
  expect(notBeyond(place, 100n)).toEqual({ transactionId: 100n, id: '00000000-0000-0000-0000-000000000000' })
  expect(notBeyond(place, 50n)).toEqual({ transactionId: 50n, id: '00000000-0000-0000-0000-000000000000' })
})
