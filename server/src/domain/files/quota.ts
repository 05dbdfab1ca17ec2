/**
 * The quota of a workspace for its files, uploaded and received. A file reserves what it may take before it is received, one
 * after another in a workspace, so that files of several requests and processes do not exceed the quota together.
 */
import type { Db } from '../../db/db.ts'
import type { ClaimedFile } from './fetching.sql.ts'
import { lockStored, minCountedBytes, setReserved, storedBytes } from './quota.sql.ts'

export { fullestWorkspaces, lockStored, makeFittingDue, minCountedBytes, storedBytes } from './quota.sql.ts'

/** A received file does not fit. */
export class OverQuota extends Error {
  /** How large it is at least. */
  readonly size: number

  constructor(size: number) {
    super('the file does not fit into the quota')
    this.size = size
  }
}

/** A file that is larger than announced, or whose size is unknown, reserves this much more at a time. */
const stepBytes = 1_000_000

/** What a file takes while it is being fetched. */
export class Reservation {
  readonly #db: Db
  readonly #file: ClaimedFile
  readonly #maxStoredBytes: number
  #bytes = -1

  constructor(db: Db, file: ClaimedFile, maxStoredBytes: number) {
    this.#db = db
    this.#file = file
    this.#maxStoredBytes = maxStoredBytes
  }

  /** Reserves `bytes` in total, or more as far as there is space. Fails if they do not fit. */
  async grow(bytes: number, wanted = bytes): Promise<void> {
    if (bytes <= this.#bytes) return
    const { id, workspaceId } = this.#file
    this.#bytes = await this.#db.transaction(async (tx) => {
      await lockStored(tx, workspaceId)
      const left = this.#maxStoredBytes - (await storedBytes(tx, workspaceId, id))
      if (Math.max(bytes, minCountedBytes) > left) throw new OverQuota(bytes)
      const reserved = Math.min(wanted, left)
      await setReserved(tx, this.#file, reserved)
      return reserved
    })
  }

  /** Passes the bytes on, as long as they fit. */
  async *watch(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0
    for await (const piece of pieces) {
      size += piece.length
      await this.grow(size, size + stepBytes)
      yield piece
    }
  }
}
