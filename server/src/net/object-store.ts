import type { ByteRange } from '../lib/byte-range.ts'
import type { FairShares } from '../sharing/fair-shares.ts'

/** Keeps files outside the database, as objects with a key each. The interface of `net/s3.ts`. */
export interface ObjectStore {
  /** For people: the bucket, the prefix and the host. */
  readonly name: string
  /** In front of the key of every new object: empty, or with a slash at the end. */
  readonly prefix: string
  /** Whether new files are written to it. If not, it is only read. */
  readonly takesNew: boolean
  /** The downloads of clients that may be in progress, by workspace. */
  readonly downloads: FairShares
  readonly isDown: boolean
  /** Replaces an object of the same key. Either all of its bytes are stored, or it fails. */
  put(key: string, content: ObjectContent): Promise<void>
  /** Resolves when the store has found the object. The bytes are read as fast as the consumer takes them. */
  get(key: string, range: ByteRange): Promise<AsyncGenerator<Buffer>>
  /** Also succeeds if there is no such object. */
  delete(key: string): Promise<void>
  /** Writes an object, reads it and deletes another that does not exist. Fails if one of these is not possible. */
  check(): Promise<void>
  close(): void
}

export interface ObjectContent {
  size: number
  /** In hex. The store compares it with the bytes that it gets. */
  sha256: string
  /** Called again if the request is repeated. */
  open(): AsyncIterable<Buffer>
}

/** `missing`: there is no such object. `unavailable`: anything else that keeps the store from serving a request. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError'
  readonly kind: 'missing' | 'unavailable'

  constructor(kind: 'missing' | 'unavailable', message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}
