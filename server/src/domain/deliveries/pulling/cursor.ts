import { hkdfSync } from 'node:crypto'
import { sameBytes } from '../../../lib/hash.ts'
import { HmacKey } from '../../../lib/hmac.ts'
import { refuseParam } from '../../../lib/refuse.ts'
import type { SecretKeys } from '../../../lib/seal.ts'

/**
 * A place in the order that all readers see: that of the last event that was read. Events are in the order of position, then of
 * ID. docs/project/decisions/reading-events.md explains it.
 */
export interface Cursor {
  /** The number of the transaction, higher in the epoch of each later server. */
  position: bigint
  id: string
  /** No event that was not read was created before this time. If events of that time were deleted, the cursor has expired. */
  unreadFrom: Date
}

/** Before all events. It never expires. */
export const oldestCursor: Cursor = {
  position: 0n,
  id: '00000000-0000-0000-0000-000000000000',
  unreadFrom: new Date(0),
}

/** Writes cursors, and reads those that a process with one of the same keys has written. */
export interface Cursors {
  write(workspaceId: string, cursor: Cursor): string
  /** Refuses a text that is not a cursor of this workspace. */
  read(workspaceId: string, text: string): Cursor
}

/** The first byte. It leads to another MAC if the format changes. */
const version = 3
const at = { unreadFrom: 1, position: 9, id: 17, mac: 33 }
const macBytes = 16

/** The first key signs, all of them verify. */
export function newCursors(secretKeys: SecretKeys): Cursors {
  const keys = Array.from(secretKeys.values(), (key) => {
    const derived = hkdfSync('sha256', key, '', 'parley event cursor', 32)
    return new HmacKey(Buffer.from(derived))
  })
  const macOf = (key: HmacKey, workspaceId: string, content: Buffer) =>
    Buffer.from(key.sign(workspaceId, content, 'hex'), 'hex').subarray(0, macBytes)
  return {
    write(workspaceId, { position, id, unreadFrom }) {
      const [key] = keys
      if (!key) throw new Error('no secret key is configured')
      const bytes = Buffer.alloc(at.mac)
      bytes[0] = version
      bytes.writeBigUInt64BE(BigInt(Math.max(0, unreadFrom.getTime())), at.unreadFrom)
      bytes.writeBigUInt64BE(position, at.position)
      bytes.write(id.replaceAll('-', ''), at.id, 'hex')
      return Buffer.concat([bytes, macOf(key, workspaceId, bytes)]).toString('base64url')
    },
    read(workspaceId, text) {
      const bytes = Buffer.from(text, 'base64url')
      const [content, mac] = [bytes.subarray(0, at.mac), bytes.subarray(at.mac)]
      if (content[0] !== version || !keys.some((key) => sameBytes(mac, macOf(key, workspaceId, content)))) {
        refuseParam(
          'after',
          'invalid',
          'Invalid cursor. Use the next_cursor of a response of this workspace. If you have none, use "latest", or leave "after" out to begin with the oldest event.',
        )
      }
      return {
        position: bytes.readBigUInt64BE(at.position),
        id: uuidAt(bytes, at.id),
        unreadFrom: new Date(Number(bytes.readBigUInt64BE(at.unreadFrom))),
      }
    },
  }
}

const uuidAt = (bytes: Buffer, offset: number): string =>
  bytes.toString('hex', offset, offset + 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
