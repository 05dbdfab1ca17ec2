import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { newUuid } from '../../../lib/ids.ts'
import { newCursors } from './cursor.ts'

test('a cursor keeps its content, has one size, and is valid for its workspace only', () => {
  const cursors = newCursors(new Map([['test', randomBytes(32)]]))
  const [workspaceId, id] = [newUuid(), newUuid()]
  for (const position of [0n, 700n, 2n ** 63n - 1n]) {
    const cursor = { position, id, unreadFrom: new Date('2026-11-16T12:00:00.123Z') }
    const text = cursors.write(workspaceId, cursor)
    expect(text).toHaveLength(66)
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
