import { hkdfSync } from 'node:crypto'
import { sameBytes } from '../../../lib/hash.ts'
import { HmacKey } from '../../../lib/hmac.ts'
import { refuseParam } from '../../../lib/refuse.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import type { Place } from './position.ts'

/** What a cursor says: the place of the last event that was read, and where it is valid. */
export interface Cursor {
  /** The ID of the history that the transaction ID belongs to. */
  history: string
  /** No event that was not read was created before this time. If events of that time were deleted, the cursor has expired. */
  unreadFrom: Date
  place: Place
}

/** Writes cursors, and reads those that a process with one of the same keys has written. */
export interface Cursors {
  write(workspaceId: string, cursor: Cursor): string
  /** Refuses a text that is not a cursor of this workspace. */
  read(workspaceId: string, text: string): Cursor
}

/** The first byte. It leads to another MAC if the format changes. */
const version = 2
const at = { history: 1, unreadFrom: 17, transactionId: 25, id: 33, mac: 49 }
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
    write(workspaceId, { history, unreadFrom, place }) {
      const [key] = keys
      if (!key) throw new Error('no secret key is configured')
      const bytes = Buffer.alloc(at.mac)
      bytes[0] = version
      putUuid(bytes, at.history, history)
      bytes.writeBigUInt64BE(BigInt(Math.max(0, unreadFrom.getTime())), at.unreadFrom)
      bytes.writeBigUInt64BE(place.transactionId, at.transactionId)
      putUuid(bytes, at.id, place.id)
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
        history: uuidAt(bytes, at.history),
        unreadFrom: new Date(Number(bytes.readBigUInt64BE(at.unreadFrom))),
        place: { transactionId: bytes.readBigUInt64BE(at.transactionId), id: uuidAt(bytes, at.id) },
      }
    },
  }
}

const putUuid = (bytes: Buffer, offset: number, uuid: string): number =>
  bytes.write(uuid.replaceAll('-', ''), offset, 'hex')

const uuidAt = (bytes: Buffer, offset: number): string =>
  bytes.toString('hex', offset, offset + 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
