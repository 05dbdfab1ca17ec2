import type { Socket } from 'node:net'
import { OutboundTimeout } from './outbound-error.ts'
import { ResponseReader } from './response-reader.ts'

/** Called once for each request; `error` is null if there is a status. */
export type Done = (connection: OutboundConnection, error: Error | null) => void

/**
 * The network may split a response into this many pieces. Reading a piece takes 5 to 10 µs whatever its size, so single
 * bytes take much more CPU time than the same bytes together.
 */
const piecesMax = 512

interface Deadlines {
  /** The limit from the start of a request to the status. For the first request this includes DNS, connect and TLS. */
  deadlineMs: number
  /** The limit from the status to the end of the body. */
  bodyDeadlineMs: number
}

/**
 * One connection, one request at a time. A request is written as one piece. One timer per connection ends a request
 * that takes too long, and a connection that was idle for as long.
 */
export class OutboundConnection {
  readonly #deadlines: Deadlines
  readonly #timer: NodeJS.Timeout
  #bodyTimer: NodeJS.Timeout | undefined
  #socket: Socket | null = null
  #request: Buffer | null = null
  #done: Done | null = null
  #reader = new ResponseReader()
  #pieces = 0
  #isOpen = true
  /** After this time the server may close the connection. */
  #idleUntil = Number.POSITIVE_INFINITY
  address: string | null = null
  onClosed: () => void = () => {}

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
    this.#timer = setTimeout(() => this.#onDeadline(), deadlines.deadlineMs)
  }

  get status(): number | null {
    return this.#reader.status
  }

  get location(): string | null {
    return this.#reader.location
  }

  get headerLines(): readonly string[] {
    return this.#reader.headerLines
  }

  get body(): Buffer {
    return this.#reader.body
  }

  get isUsable(): boolean {
    return this.#isOpen && this.#done === null && performance.now() < this.#idleUntil
  }

  begin(request: Buffer, done: Done): void {
    this.#done = done
    this.#reader = new ResponseReader()
    this.#pieces = 0
    this.#timer.refresh()
    if (this.#socket) this.#socket.write(request)
    else this.#request = request
  }

  connected(socket: Socket): void {
    if (!this.#isOpen) {
      socket.destroy()
      return
    }
    this.#socket = socket
    this.address = socket.remoteAddress ?? null
    socket.on('data', (piece: Buffer) => this.#read(() => this.#reader.read(piece)))
    socket.on('end', () => this.#read(() => this.#reader.end()))
    socket.on('error', (error) => this.#finish(error))
    socket.on('close', () => this.#finish(new Error('the connection was closed')))
    if (this.#request) socket.write(this.#request)
    this.#request = null
  }

  failed(error: Error): void {
    this.#finish(error)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#socket?.destroy()
    this.onClosed()
  }

  #read(take: () => void): void {
    // The server sent data or closed the connection although there is no request.
    if (!this.#done) {
      this.close()
      return
    }
    try {
      take()
    } catch (error) {
      this.#finish(error as Error)
      return
    }
    if (this.#reader.isOver) this.#finish(null)
    else if (++this.#pieces > piecesMax) this.#finish(new Error('the response came in too many pieces'))
    else if (this.#reader.status !== null && !this.#bodyTimer) {
      this.#bodyTimer = setTimeout(
        () => this.#finish(new OutboundTimeout('the response body did not end in time')),
        this.#deadlines.bodyDeadlineMs,
      )
    }
  }

  #onDeadline(): void {
    // After the status, the deadline of the body applies.
    if (this.#done && this.#bodyTimer) return
    this.#finish(new OutboundTimeout('no response in time'))
  }

  #finish(error: Error | null): void {
    clearTimeout(this.#bodyTimer)
    this.#bodyTimer = undefined
    const done = this.#done
    this.#done = null
    const { isOver, isReusable, idleMs, status } = this.#reader
    if (error || !isOver || !isReusable) this.close()
    else {
      // One second less than the server's limit, so that the connection is still open when the next request arrives.
      this.#idleUntil = performance.now() + idleMs - 1000
      this.#timer.refresh()
    }
    // An error after the status does not count, because the receiver has responded.
    done?.(this, status === null ? (error ?? new Error('no response')) : null)
  }
}
