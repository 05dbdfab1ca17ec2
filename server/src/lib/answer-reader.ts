import { GrowingBuffer } from './growing-buffer.ts'

const maxAnswerBytes = 16 * 1024
const maxHeadBytes = 16 * 1024

/** What came is no HTTP/1 answer. */
export class Malformed extends Error {
  override readonly name = 'Malformed'
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const nothing: Buffer = Buffer.alloc(0)

type Part = 'head' | 'counted' | 'until the end' | 'chunk size' | 'chunk' | 'after chunk' | 'trailer' | 'over'

/**
 * Reads one answer to a POST from the pieces in which it arrives: the status, and how the body begins. It does not need
 * more, and so it need not be lenient: where the end of the answer is in any doubt, or it is longer than what is kept, the
 * connection is not used again.
 */
export class AnswerReader {
  status: number | null = null
  /** Where it would send us. */
  location: string | null = null
  /** Whether the connection can take another request once the answer is over. */
  isSound = true
  /** How long the other side says it keeps an idle connection. */
  idleMs = Number.POSITIVE_INFINITY
  #part: Part = 'head'
  #kept = nothing
  /** Whether what is kept was copied; at first it is a part of what arrived. */
  #isCopied = false
  #size = 0
  /** Of the body or the chunk, if that is counted. */
  #left = 0
  /** What of the head, or of a line between chunks, has come. */
  readonly #pending = new GrowingBuffer(2 * maxHeadBytes)

  get isOver(): boolean {
    return this.#part === 'over'
  }

  /** As much of the body as is kept. */
  get body(): Buffer {
    return this.#kept.subarray(0, this.#size)
  }

  /** Throws `Malformed` if it is no answer; once there is a status, it only says that the connection is of no use. */
  read(piece: Buffer): void {
    let rest = piece
    while (rest.length > 0) {
      if (this.#part === 'over') {
        // Nobody asked for more.
        this.isSound = false
        return
      }
      rest = this.#readPart(rest)
    }
  }

  /** The other side said that nothing more comes. */
  end(): void {
    if (this.#part === 'head') throw new Malformed('the connection ended before an answer')
    this.#finish(false)
  }

  #readPart(bytes: Buffer): Buffer {
    switch (this.#part) {
      case 'head':
        return this.#readHead(bytes)
      case 'until the end':
        return this.#keep(bytes)
      case 'counted':
      case 'chunk':
        return this.#readCounted(bytes)
      default:
        return this.#readLine(bytes)
    }
  }

  #readHead(bytes: Buffer): Buffer {
    // The part that is searched already is not searched again: the head may come byte by byte.
    const searchFrom = Math.max(0, this.#pending.size - 3)
    this.#pending.append(bytes)
    const all = this.#pending.bytes
    const end = all.indexOf('\r\n\r\n', searchFrom)
    if (end > maxHeadBytes || (end < 0 && all.length > maxHeadBytes)) throw new Malformed('the head has no end')
    if (end < 0) return nothing
    this.#pending.clear()
    this.#takeHead(all.toString('latin1', 0, end).split('\r\n'))
    return all.subarray(end + 4)
  }

  #takeHead([first = '', ...fields]: string[]): void {
    const found = statusLine.exec(first)
    if (!found) throw new Malformed('it does not begin as an answer does')
    const status = Number(found[2])
    // Something preliminary; the answer follows.
    if (status < 200 && status !== 101) return
    this.status = status
    if (found[1] === '0' || status === 101) this.isSound = false
    let length: number | null = null
    let isChunked = false
    for (const field of fields) {
      const colon = field.indexOf(':')
      const name = field.slice(0, Math.max(0, colon)).toLowerCase()
      const value = field.slice(colon + 1).trim()
      if (name === 'content-length') {
        // Said twice, or not as a number, it says nothing.
        length = length === null && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      } else if (name === 'transfer-encoding') {
        if (isChunked || value.toLowerCase() !== 'chunked') this.isSound = false
        isChunked = /\bchunked$/i.test(value)
      } else if (name === 'connection') {
        if (/\bclose\b/i.test(value)) this.isSound = false
      } else if (name === 'location') {
        this.location = value
      } else if (name === 'keep-alive') {
        this.idleMs = Number(/timeout=(\d{1,6})/i.exec(value)?.[1] ?? 'Infinity') * 1000
      } else if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) this.isSound = false
    }
    if (length !== null && (isChunked || Number.isNaN(length))) this.isSound = false
    this.#beginBody(status, length, isChunked)
  }

  #beginBody(status: number, length: number | null, isChunked: boolean): void {
    if (status === 204 || status === 304 || (length === 0 && !isChunked)) this.#finish(true)
    else if (isChunked) this.#part = 'chunk size'
    else if (length !== null && !Number.isNaN(length)) {
      this.#part = 'counted'
      this.#left = length
    } else {
      this.#part = 'until the end'
      this.isSound = false
    }
  }

  #readCounted(bytes: Buffer): Buffer {
    const own = bytes.subarray(0, this.#left)
    this.#left -= own.length
    this.#keep(own)
    if (this.#left === 0 && !this.isOver) {
      if (this.#part === 'counted') this.#finish(true)
      else this.#part = 'after chunk'
    }
    return bytes.subarray(own.length)
  }

  /** The size before a chunk, the empty line after it, and the fields after the last. */
  #readLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf('\n')
    const own = end < 0 ? bytes : bytes.subarray(0, end)
    this.#pending.append(own)
    const line = this.#pending.bytes
    if (line.length > maxHeadBytes) {
      this.#finish(false)
      return nothing
    }
    if (end < 0) return nothing
    const text = line.toString('latin1')
    this.#pending.clear()
    if (!text.endsWith('\r')) this.#finish(false)
    else this.#takeLine(text.slice(0, -1))
    return bytes.subarray(end + 1)
  }

  #takeLine(line: string): void {
    if (this.#part === 'trailer') {
      if (line === '') this.#finish(true)
    } else if (this.#part === 'after chunk') {
      if (line === '') this.#part = 'chunk size'
      else this.#finish(false)
    } else {
      const size = /^([0-9a-f]{1,8})(?:[ \t]*;.*)?$/i.exec(line)?.[1]
      this.#left = Number.parseInt(size ?? '0', 16)
      if (size === undefined) this.#finish(false)
      else this.#part = this.#left === 0 ? 'trailer' : 'chunk'
    }
  }

  #keep(bytes: Buffer): Buffer {
    const size = this.#size + bytes.length
    if (this.#size === 0) this.#kept = bytes
    else {
      if (!this.#isCopied) this.#makeRoom()
      bytes.copy(this.#kept, this.#size)
    }
    this.#size = Math.min(size, maxAnswerBytes)
    if (size > maxAnswerBytes) this.#finish(false)
    return nothing
  }

  /** One buffer, however small the pieces are in which the body comes. */
  #makeRoom(): void {
    const whole = Buffer.allocUnsafe(maxAnswerBytes)
    this.#kept.copy(whole)
    this.#kept = whole
    this.#isCopied = true
  }

  #finish(sound: boolean): void {
    this.#part = 'over'
    this.#pending.clear()
    if (!sound) this.isSound = false
  }
}
