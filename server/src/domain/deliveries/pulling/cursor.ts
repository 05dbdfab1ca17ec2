import { sameBytes, sha256 } from '../../../lib/hash.ts'
import { refuseParam } from '../../../lib/refuse.ts'
import type { LivePosition, OpenTransaction, Position } from './position.ts'

/** What a cursor says: a position, and where it is valid. */
export interface Cursor {
  /** The ID of the history that the transaction IDs belong to. */
  history: string
  /** No event that was not read was created before this time. If events of that time were deleted, the cursor has expired. */
  unreadFrom: Date
  position: Position
}

const version = 1
const checkBytes = 6

export function writeCursor(workspaceId: string, { history, unreadFrom, position }: Cursor): string {
  const bytes: number[] = [version, ...uuidBytes(history)]
  putNumber(bytes, BigInt(Math.max(0, Math.floor(unreadFrom.getTime() / 1000))))
  if (position.kind === 'old') {
    bytes.push(0)
    putNumber(bytes, BigInt(position.atUs))
    bytes.push(...uuidBytes(position.id))
  } else {
    bytes.push(1)
    putNumber(bytes, position.next)
    // Each as the distance to the one before: most are small.
    let last = 0n
    for (const { id, after } of position.open) {
      putNumber(bytes, ((id - last) << 1n) | (after === null ? 0n : 1n))
      if (after !== null) bytes.push(...uuidBytes(after))
      last = id
    }
  }
  const content = Buffer.from(bytes)
  return Buffer.concat([content, checkOf(workspaceId, content)]).toString('base64url')
}

/** Refuses a text that is not a cursor of this workspace. */
export function readCursor(workspaceId: string, text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const content = bytes.subarray(0, Math.max(0, bytes.length - checkBytes))
  if (content[0] !== version || !sameBytes(bytes.subarray(content.length), checkOf(workspaceId, content))) {
    refuseParam('after', 'invalid', 'Invalid cursor. Use the next_cursor of a response of this workspace, or "latest".')
  }
  // The check shows that it was written by `writeCursor`.
  const reader = new Reader(content, 1)
  const history = reader.uuid()
  const unreadFrom = new Date(Number(reader.number()) * 1000)
  return { history, unreadFrom, position: reader.byte() === 0 ? readOld(reader) : readLive(reader) }
}

const readOld = (reader: Reader): Position => ({ kind: 'old', atUs: Number(reader.number()), id: reader.uuid() })

function readLive(reader: Reader): LivePosition {
  const next = reader.number()
  const open: OpenTransaction[] = []
  let last = 0n
  while (!reader.isAtEnd) {
    const word = reader.number()
    last += word >> 1n
    open.push({ id: last, after: (word & 1n) === 1n ? reader.uuid() : null })
  }
  return { kind: 'live', next, open }
}

/** Makes a cursor valid for one workspace, and finds cursors that were cut off or changed. It keeps nothing secret. */
const checkOf = (workspaceId: string, content: Buffer): Buffer =>
  sha256(Buffer.concat([Buffer.from(workspaceId), content])).subarray(0, checkBytes)

const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')

/** Seven bits in each byte, the lowest first. The highest bit says that more follow. */
function putNumber(bytes: number[], value: bigint): void {
  let rest = value
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  bytes.push(Number(rest))
}

class Reader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  byte(): number {
    return this.#bytes[this.#at++] ?? 0
  }

  number(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte()
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }

  uuid(): string {
    const hex = this.#bytes.toString('hex', this.#at, this.#at + 16)
    this.#at += 16
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }
}
