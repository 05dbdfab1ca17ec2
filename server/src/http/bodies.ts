import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { Refusal } from '../lib/refuse.ts'
import { addressBlock } from '../net/addresses.ts'
import type { Overload } from '../sharing/overload.ts'
import { requestTimedOut } from './errors.ts'
import { type BytesLease, type ExceededBytes, HeldBytes } from './limits/bytes.ts'
import type { ClientTimeouts, Limits } from './limits/limits.ts'
import { WorkspaceSlots } from './limits/slots.ts'
import { maxFileBodyBytes } from './multipart.ts'

/** The bodies that routes read: of a client of the API or the console, a client's file, and a webhook. */
const sources = {
  client: { maxBytes: 256 * 1024, owner: 'stranger' },
  // Up to 500 messages.
  batch: { maxBytes: 2 * 1024 * 1024, owner: 'stranger' },
  // At most 128 KiB of each file are in memory.
  upload: { maxBytes: maxFileBodyBytes, owner: 'stranger' },
  // WhatsApp's webhooks are up to 3 MB.
  webhook: { maxBytes: 4 * 1024 * 1024, owner: 'unverified' },
  /** From an address from which WhatsApp posts. */
  'known webhook': { maxBytes: 4 * 1024 * 1024, owner: 'network' },
} as const

export type BodySource = keyof typeof sources

export interface BodiesOptions {
  limits: Pick<Limits, 'bytes' | 'uploads'>
  overload: Overload
  addressOf(request: IncomingMessage): string
}

/** Reads the bodies of all requests of this process, with limits on size, time and memory. */
export class Bodies {
  readonly #addressOf: BodiesOptions['addressOf']
  readonly #held: HeldBytes
  readonly #failed = new WeakMap<IncomingMessage, Refusal>()
  /** Per connection, the bodies that are read before a handler requests them. */
  readonly #early = new WeakMap<Socket, Set<BodyReader>>()
  readonly #refused: (limit: ExceededBytes, request: IncomingMessage) => Refusal
  readonly #uploads: WorkspaceSlots

  constructor({ limits, overload, addressOf }: BodiesOptions) {
    this.#uploads = new WorkspaceSlots('workspace_uploads', limits.uploads, overload)
    this.#addressOf = addressOf
    this.#held = new HeldBytes(limits.bytes)
    this.#refused = (limit, request) => overload.refusal(limit, addressOf(request), { Connection: 'close' })
  }

  get bytes(): number {
    return this.#held.total
  }

  /**
   * Collects up to `earlyBytes` of a body before a handler requests it. Node would buffer as much, but chunk by chunk:
   * 7 MB of heap if each chunk is one byte. A small body with a known size is not worth it.
   */
  startEarly(request: IncomingMessage, response: ServerResponse, source: BodySource): void {
    const { method, socket, headers } = request
    const isChunked = headers['transfer-encoding'] !== undefined
    const length = Number(headers['content-length'] ?? 0)
    // Handlers of these methods never read a body, and no handler accepts a body that is too large.
    const isIgnored = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
    if (isIgnored || length > sources[source].maxBytes) return void request.resume()
    if (!isChunked && length <= smallBytes) return
    const reader = this.#start(request, source)
    const early = this.#earlyOf(socket)
    early.add(reader)
    response.once('close', () => {
      early.delete(reader)
      reader.releaseUnclaimed()
    })
  }

  /**
   * Reads the whole body. The caller must call `release` afterwards, however the request ends. With a workspace, the body
   * counts towards its limit too.
   */
  read(request: WithReader, source: BodySource, withinMs: number, workspaceId?: string): Promise<Buffer> {
    const failed = this.#failed.get(request)
    if (failed) return Promise.reject(failed)
    const reader = request[readerOf]
    if (reader) return reader.readAll(withinMs, workspaceId)
    if (Number(request.headers['content-length'] ?? 0) > sources[source].maxBytes) {
      return Promise.reject(new Refusal('payload_too_large'))
    }
    if (request.readableEnded) return Promise.resolve(Buffer.alloc(0))
    // The client disconnected, so the stream emits no further event.
    if (request.destroyed) return Promise.reject(requestTimedOut())
    return this.#start(request, source).readAll(withinMs, workspaceId)
  }

  /**
   * The pieces of a file as they arrive, as fast as the caller takes them. Its size and time are limited, and how many files
   * of a workspace are received at a time. The caller must call `release` afterwards.
   */
  async *stream(request: WithReader, workspaceId: string, within: StreamTimes): AsyncGenerator<Buffer> {
    this.#uploads.take(workspaceId)
    try {
      const failed = this.#failed.get(request)
      if (failed) throw failed
      const reader = request[readerOf]
      // It is being discarded: it is too large, or the path was written in another way.
      if (!reader && request.readableFlowing) throw new Refusal('payload_too_large')
      if (!reader && request.readableEnded) return
      if (!reader && request.destroyed) throw requestTimedOut()
      yield* (reader ?? this.#start(request, 'upload')).pieces(within, workspaceId)
    } finally {
      this.#uploads.release(workspaceId)
    }
  }

  /** Whether the body is passed on as it arrives. It has its own time limits. */
  isStreamed(request: WithReader): boolean {
    return request[readerOf]?.isStreamed ?? false
  }

  /** Frees the memory of a body that no handler has requested. */
  releaseUnclaimed(request: WithReader): void {
    request[readerOf]?.releaseUnclaimed()
  }

  release(request: WithReader): void {
    request[readerOf]?.release()
  }

  /** The rest of a body cannot be read. The current or later `read` of it fails with `refusal`. */
  fail(request: WithReader, refusal: Refusal): void {
    this.#failed.set(request, refusal)
    request[readerOf]?.fail(refusal)
  }

  #start(request: WithReader, source: BodySource): BodyReader {
    const { maxBytes, owner } = sources[source]
    const lease = this.#held.lease(owner, addressBlock(this.#addressOf(request)))
    const reader = new BodyReader(request, maxBytes, lease, this.#refused)
    request[readerOf] = reader
    return reader
  }

  /** Also watches the socket: a response that waits behind others on its connection gets no `close` event with it. */
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

type StreamTimes = Pick<ClientTimeouts, 'uploadMs' | 'uploadIdleMs'>

/** How much is collected before it is requested. Reading from the connection pauses at this size. */
const earlyBytes = 64 * 1024
const smallBytes = 4 * 1024

/** Shared, because every request with a body has a reader. */
const notWaiting = (): void => {}

/** Stored on the request: every request with a body has a reader, and a WeakMap costs more than all the rest. */
const readerOf = Symbol('body reader')

type WithReader = IncomingMessage & { [readerOf]?: BodyReader }

/** Collects one body. Its memory counts until `release`, or until the body fails. */
class BodyReader {
  readonly #request: IncomingMessage
  readonly #maxBytes: number
  readonly #lease: BytesLease
  readonly #refused: (limit: ExceededBytes, request: IncomingMessage) => Refusal
  readonly #buffer: GrowingBuffer
  #isEnded = false
  #isClaimed = false
  isStreamed = false
  #passed = 0
  /** Called when there are more bytes, or none will come. */
  #wake = notWaiting
  #refusal: Refusal | undefined
  #timer: NodeJS.Timeout | undefined
  #resolve: ((body: Buffer) => void) | undefined
  #reject: ((refusal: Refusal) => void) | undefined

  constructor(
    request: IncomingMessage,
    maxBytes: number,
    lease: BytesLease,
    refused: (limit: ExceededBytes, request: IncomingMessage) => Refusal,
  ) {
    this.#request = request
    this.#maxBytes = maxBytes
    this.#lease = lease
    this.#refused = refused
    const contentLength = request.headers['content-length']
    this.#buffer = new GrowingBuffer(maxBytes, contentLength === undefined ? undefined : Number(contentLength))
    // A client that disconnects is not an internal error, whatever error the socket reports.
    request.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onCut).on('close', this.#onCut)
  }

  readAll(withinMs: number, workspaceId: string | undefined): Promise<Buffer> {
    this.#isClaimed = true
    const exceeded = workspaceId === undefined ? null : this.#lease.assignTo(workspaceId)
    if (exceeded) {
      const refusal = this.#refused(exceeded, this.#request)
      this.fail(refusal)
      return Promise.reject(refusal)
    }
    if (this.#request.isPaused()) this.#request.resume()
    if (this.#refusal) return Promise.reject(this.#refusal)
    if (this.#isEnded) return Promise.resolve(this.#buffer.bytes)
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      // Node's own timeout would close the connection without a response.
      this.#timer = setTimeout(this.#onCut, withinMs)
    })
  }

  /** Passes the body on while it arrives. Each piece belongs to the caller. */
  async *pieces({ uploadMs, uploadIdleMs }: StreamTimes, workspaceId: string): AsyncGenerator<Buffer> {
    this.#isClaimed = true
    this.isStreamed = true
    const exceeded = this.#lease.assignTo(workspaceId)
    if (exceeded) this.fail(this.#refused(exceeded, this.#request))
    const startedMs = performance.now()
    for (;;) {
      if (performance.now() - startedMs > uploadMs) this.#onCut()
      if (this.#refusal) throw this.#refusal
      if (this.#buffer.size > 0) yield this.#pass()
      else if (this.#isEnded) return
      else await this.#more(uploadIdleMs)
    }
  }

  #pass(): Buffer {
    const { bytes } = this.#buffer
    this.#buffer.clear()
    this.#lease.release()
    this.#passed += bytes.length
    if (this.#request.isPaused()) this.#request.resume()
    return bytes
  }

  #more(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(this.#onCut, withinMs)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = notWaiting
        resolve()
      }
    })
  }

  fail(refusal: Refusal): void {
    if (this.#isEnded || this.#refusal) return
    this.#refusal = refusal
    this.#detach()
    this.release()
    this.#reject?.(refusal)
    this.#wake()
  }

  release(): void {
    if (this.#isEnded || this.#refusal) {
      this.#buffer.clear()
      this.#lease.release()
    } else {
      // Stops collecting.
      this.fail(requestTimedOut())
    }
  }

  releaseUnclaimed(): void {
    if (!this.#isClaimed) this.release()
  }

  readonly #onData = (chunk: Buffer): void => {
    const refusal = this.#limitFor(chunk)
    if (refusal) {
      this.fail(refusal)
      return
    }
    this.#buffer.append(chunk)
    if ((this.isStreamed || !this.#isClaimed) && this.#buffer.size >= earlyBytes) this.#request.pause()
    this.#wake()
  }

  #limitFor({ length }: Buffer): Refusal | null {
    const buffer = this.#buffer
    if (this.#passed + buffer.size + length > this.#maxBytes) return new Refusal('payload_too_large')
    const capacity = buffer.capacityWith(length)
    const exceeded = capacity > buffer.capacity ? this.#lease.resize(capacity) : null
    return exceeded && this.#refused(exceeded, this.#request)
  }

  readonly #onEnd = (): void => {
    this.#isEnded = true
    this.#detach()
    this.#resolve?.(this.#buffer.bytes)
    this.#wake()
  }

  readonly #onCut = (): void => this.fail(requestTimedOut())

  #detach(): void {
    clearTimeout(this.#timer)
    // Keep the error listener: without one, a connection that breaks later would crash the process. Without a data
    // listener the resumed stream discards the rest of the body, so the next request on the connection can be read.
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onCut)
    if (this.#request.isPaused()) this.#request.resume()
  }
}
