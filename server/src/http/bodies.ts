import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Counters } from '../lib/counters.ts'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { Refusal } from '../lib/refuse.ts'
import { type BodyLease, type BodyLimits, BodyMemory, type BodySource, type ExceededLimit } from './body-memory.ts'
import { requestTimedOut } from './errors.ts'

export interface BodiesOptions {
  limits: BodyLimits
  tally: Counters
  addressOf(request: IncomingMessage): string
}

/** Reads the bodies of all requests of this process, within the limits on their size, their time and their memory. */
export class Bodies {
  readonly #limits: BodyLimits
  readonly #addressOf: BodiesOptions['addressOf']
  readonly #memory: BodyMemory
  /** Requests whose body turned out to be unreadable. */
  readonly #spoilt = new WeakMap<IncomingMessage, Refusal>()
  /** The bodies of a connection that are read before a handler has asked for them. */
  readonly #early = new WeakMap<Socket, Set<BodyReader>>()
  readonly #refused: (limit: ExceededLimit) => Refusal

  constructor({ limits, tally, addressOf }: BodiesOptions) {
    this.#limits = limits
    this.#addressOf = addressOf
    this.#memory = new BodyMemory(limits)
    this.#refused = (limit) => {
      tally.add('bodies refused', limit)
      return new Refusal('service_unavailable', { message: outOfMemory[limit], headers: { Connection: 'close' } })
    }
  }

  /** The bytes in memory. */
  get bytes(): number {
    return this.#memory.bytes
  }

  /**
   * Collects a body from its first byte, before a handler asks for it, up to `earlyBytes`. Node would keep as much in the
   * meantime, but piece by piece: 7 MB of heap if each has one byte. A small body whose size is known is not worth it.
   */
  expect(request: IncomingMessage, response: ServerResponse, source: BodySource): void {
    const { method, socket, headers } = request
    const isChunked = headers['transfer-encoding'] !== undefined
    const length = Number(headers['content-length'] ?? 0)
    if (!isChunked && length === 0) return
    // No handler of these reads a body, and none accepts one that is too large.
    const isUnwanted = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
    if (isUnwanted || length > this.#limits[source].bodyBytes) return void request.resume()
    if (!isChunked && length <= smallBytes) return
    const reader = this.#start(request, source)
    const early = this.#earlyOf(socket)
    early.add(reader)
    response.once('close', () => {
      early.delete(reader)
      reader.releaseUnclaimed()
    })
  }

  /** The whole body. Whoever asks for it must call `release` afterwards, however the request ends. */
  read(request: WithReader, source: BodySource, withinMs: number): Promise<Buffer> {
    const spoilt = this.#spoilt.get(request)
    if (spoilt) return Promise.reject(spoilt)
    const reader = request[readerOf]
    if (reader) return reader.whole(withinMs)
    if (Number(request.headers['content-length'] ?? 0) > this.#limits[source].bodyBytes) {
      return Promise.reject(new Refusal('payload_too_large'))
    }
    if (request.readableEnded) return Promise.resolve(Buffer.alloc(0))
    // The client has gone away; no event would tell us any more.
    if (request.destroyed) return Promise.reject(requestTimedOut())
    return this.#start(request, source).whole(withinMs)
  }

  /** The body is not needed any more. */
  release(request: WithReader): void {
    request[readerOf]?.release()
  }

  /** The rest of a body cannot be read: the handler that reads it, or is going to, is refused. */
  spoil(request: WithReader, refusal: Refusal): void {
    this.#spoilt.set(request, refusal)
    request[readerOf]?.fail(refusal)
  }

  #start(request: WithReader, source: BodySource): BodyReader {
    const lease = this.#memory.lease(source, this.#addressOf(request))
    const reader = new BodyReader(request, this.#limits[source].bodyBytes, lease, this.#refused)
    request[readerOf] = reader
    return reader
  }

  /** A response that waits for those before it on its connection is not closed with the connection, so we watch both. */
  #earlyOf(socket: Socket): Set<BodyReader> {
    const known = this.#early.get(socket)
    if (known) return known
    const early = new Set<BodyReader>()
    this.#early.set(socket, early)
    socket.once('close', () => {
      for (const reader of early) reader.releaseUnclaimed()
      early.clear()
    })
    return early
  }
}

/** What is collected before a handler asks for the body; more is not taken from the connection until then. */
const earlyBytes = 64 * 1024
const smallBytes = 4 * 1024

/** On the request itself: every request with a body has one, and a WeakMap costs more than all the rest. */
const readerOf = Symbol('body reader')

type WithReader = IncomingMessage & { [readerOf]?: BodyReader }

const outOfMemory: Record<ExceededLimit, string> = {
  process: 'The service is reading too many request bodies at once. Try again shortly.',
  address: 'The service is reading too many request bodies from your address at once. Try again shortly.',
}

/** Collects one body. Its memory is counted until `release`, or until it fails. */
class BodyReader {
  readonly #request: IncomingMessage
  readonly #maxBytes: number
  readonly #lease: BodyLease
  readonly #refused: (limit: ExceededLimit) => Refusal
  readonly #buffer: GrowingBuffer
  #isEnded = false
  #isClaimed = false
  #refusal: Refusal | undefined
  #timer: NodeJS.Timeout | undefined
  #resolve: ((body: Buffer) => void) | undefined
  #reject: ((refusal: Refusal) => void) | undefined

  constructor(
    request: IncomingMessage,
    maxBytes: number,
    lease: BodyLease,
    refused: (limit: ExceededLimit) => Refusal,
  ) {
    this.#request = request
    this.#maxBytes = maxBytes
    this.#lease = lease
    this.#refused = refused
    const announced = request.headers['content-length']
    this.#buffer = new GrowingBuffer(maxBytes, announced === undefined ? undefined : Number(announced))
    // A client that goes away is no fault of ours, whatever the socket calls it.
    request.on('data', this.#take).on('end', this.#end).on('error', this.#cut).on('close', this.#cut)
  }

  whole(withinMs: number): Promise<Buffer> {
    this.#isClaimed = true
    if (this.#request.isPaused()) this.#request.resume()
    if (this.#refusal) return Promise.reject(this.#refusal)
    if (this.#isEnded) return Promise.resolve(this.#buffer.bytes)
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      // Node's own timeout would cut the connection without a response.
      this.#timer = setTimeout(this.#cut, withinMs)
    })
  }

  fail(refusal: Refusal): void {
    if (this.#isEnded || this.#refusal) return
    this.#refusal = refusal
    this.#detach()
    this.release()
    this.#reject?.(refusal)
  }

  release(): void {
    if (this.#isEnded || this.#refusal) {
      this.#buffer.clear()
      this.#lease.release()
    } else {
      // Otherwise it would go on collecting.
      this.fail(requestTimedOut())
    }
  }

  releaseUnclaimed(): void {
    if (!this.#isClaimed) this.release()
  }

  readonly #take = (chunk: Buffer): void => {
    const refusal = this.#refusalOf(chunk)
    if (refusal) {
      this.fail(refusal)
      return
    }
    this.#buffer.append(chunk)
    if (!this.#isClaimed && this.#buffer.size >= earlyBytes) this.#request.pause()
  }

  #refusalOf({ length }: Buffer): Refusal | null {
    const buffer = this.#buffer
    if (buffer.size + length > this.#maxBytes) return new Refusal('payload_too_large')
    const capacity = buffer.capacityWith(length)
    const exceeded = capacity > buffer.capacity ? this.#lease.resize(capacity) : null
    return exceeded && this.#refused(exceeded)
  }

  readonly #end = (): void => {
    this.#isEnded = true
    this.#detach()
    this.#resolve?.(this.#buffer.bytes)
  }

  readonly #cut = (): void => this.fail(requestTimedOut())

  #detach(): void {
    clearTimeout(this.#timer)
    // The listener for errors stays: a connection that breaks later must not bring the process down. Without a listener for
    // data the stream goes on, and what still comes is dropped; the next request on the connection is behind it.
    this.#request.off('data', this.#take).off('end', this.#end).off('close', this.#cut)
    if (this.#request.isPaused()) this.#request.resume()
  }
}
