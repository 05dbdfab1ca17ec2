import type { Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import { Late } from './outbound-error.ts'

/** Told once of each exchange. */
export type Done = (line: Line, error: Error | null) => void

interface Patience {
  /** From the beginning of an exchange, which for the first one is that of dialling, to the status. */
  deadlineMs: number
  /** For what of the answer is read after that. */
  answerDeadlineMs: number
}

/**
 * One connection, one exchange at a time. A request is written as one piece, and one timer serves the line for as long as
 * it lives: it ends an exchange that takes too long, and a line that nobody has used for as long.
 */
export class Line {
  readonly #patience: Patience
  readonly #timer: NodeJS.Timeout
  #answerTimer: NodeJS.Timeout | undefined
  #socket: Socket | null = null
  #request: Buffer | null = null
  #done: Done | null = null
  #reader = new AnswerReader()
  #isOpen = true
  /** When the other side may hang up on it. */
  #idleUntil = Number.POSITIVE_INFINITY
  address: string | null = null
  onClosed: () => void = () => {}

  constructor(patience: Patience) {
    this.#patience = patience
    this.#timer = setTimeout(() => this.#late(), patience.deadlineMs)
  }

  /** What the last exchange brought. */
  get status(): number | null {
    return this.#reader.status
  }

  get location(): string | null {
    return this.#reader.location
  }

  get answer(): Buffer {
    return this.#reader.body
  }

  /** Whether another exchange may begin. */
  get isUsable(): boolean {
    return this.#isOpen && this.#done === null && performance.now() < this.#idleUntil
  }

  begin(request: Buffer, done: Done): void {
    this.#done = done
    this.#reader = new AnswerReader()
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
    // What comes when nothing was asked for, the end included, leaves nothing to be asked here.
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
    else if (this.#reader.status !== null && !this.#answerTimer) {
      this.#answerTimer = setTimeout(() => this.#finish(new Late('no end in time')), this.#patience.answerDeadlineMs)
    }
  }

  #late(): void {
    // Where the receiver has spoken, the rest has a time of its own.
    if (this.#done && this.#answerTimer) return
    this.#finish(new Late('no answer in time'))
  }

  #finish(error: Error | null): void {
    clearTimeout(this.#answerTimer)
    this.#answerTimer = undefined
    const done = this.#done
    this.#done = null
    const { isOver, isSound, idleMs, status } = this.#reader
    if (error || !isOver || !isSound) this.close()
    else {
      // A little less than it says: what is on its way then must still arrive.
      this.#idleUntil = performance.now() + idleMs - 1000
      this.#timer.refresh()
    }
    // What fails once the status is known changes nothing: the receiver has spoken.
    done?.(this, status === null ? (error ?? new Error('no answer')) : null)
  }
}
