import { GrowingBuffer } from '../lib/growing-buffer.ts'

/** Only this much of a response body is read. */
const maxBodyBytes = 16 * 1024
/** Everything before the body: the final status and headers, and informational responses (1xx) before them. */
const maxHeadBytes = 16 * 1024
const maxHeaders = 256
const maxInformational = 16
/** Chunk sizes with their extensions, and trailers. */
const maxFramingBytes = 16 * 1024
/** Their lines. A chunk has two, so a body of one-byte chunks is read up to 256 bytes: 11,000 chunks take 30 ms of CPU. */
const maxFramingLines = 512

/** The bytes are not an HTTP/1 response, or exceed a limit before the final status. */
export class Malformed extends Error {
  override readonly name = 'Malformed'
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const nothing: Buffer = Buffer.alloc(0)

type Part = 'head' | 'counted' | 'until the end' | 'chunk size' | 'chunk' | 'after chunk' | 'trailer' | 'over'

/**
 * Reads one response to a POST from the chunks in which it arrives: the status, and the start of the body. It is
 * strict: if the end of the response is ambiguous, or a limit is exceeded, the connection is not reused.
 */
export class ResponseReader {
  status: number | null = null
  /** The target of a redirect. */
  location: string | null = null
  /** The header lines as they arrived, without those of informational responses. */
  headerLines: readonly string[] = []
  /** Whether the connection can be reused once the response is over. */
  isReusable = true
  /** How long the server keeps an idle connection, as its Keep-Alive header says. */
  idleMs = Number.POSITIVE_INFINITY
  #part: Part = 'head'
  /** Remaining bytes of the body or the chunk, if the length is known. */
  #left = 0
  #headBytes = 0
  #informational = 0
  #framingBytes = 0
  #framingLines = 0
  /** The incomplete head, or the incomplete line between chunks. */
  readonly #pending = new GrowingBuffer(2 * maxHeadBytes)
  readonly #body = new GrowingBuffer(maxBodyBytes)

  get isOver(): boolean {
    return this.#part === 'over'
  }

  get body(): Buffer {
    return this.#body.bytes
  }

  /** Throws `Malformed` before the final status. After it, an error only means that the connection is not reused. */
  read(piece: Buffer): void {
    let rest = piece
    while (rest.length > 0) {
      if (this.#part === 'over') {
        // The server sent more than one response.
        this.isReusable = false
        return
      }
      rest = this.#readPart(rest)
    }
  }

  end(): void {
    if (this.#part === 'head') throw new Malformed('the connection ended before a response')
    this.#finish(false)
  }

  #readPart(bytes: Buffer): Buffer {
    switch (this.#part) {
      case 'head':
        return this.#readHead(bytes)
      case 'until the end':
        return this.#append(bytes)
      case 'counted':
      case 'chunk':
        return this.#readCounted(bytes)
      default:
        return this.#readLine(bytes)
    }
  }

  #readHead(bytes: Buffer): Buffer {
    // Do not search the same bytes again, because the head may arrive byte by byte.
    const searchFrom = Math.max(0, this.#pending.size - 3)
    this.#pending.append(bytes)
    const all = this.#pending.bytes
    const end = all.indexOf('\r\n\r\n', searchFrom)
    const headBytes = this.#headBytes + (end < 0 ? all.length : end)
    if (headBytes > maxHeadBytes) throw new Malformed('too many bytes before the body')
    if (end < 0) return nothing
    this.#headBytes = headBytes
    this.#pending.clear()
    this.#takeHead(all.toString('latin1', 0, end).split('\r\n', maxHeaders + 2))
    return all.subarray(end + 4)
  }

  #takeHead([first = '', ...fields]: string[]): void {
    const found = statusLine.exec(first)
    if (!found) throw new Malformed('no status line')
    if (fields.length > maxHeaders) throw new Malformed('too many headers')
    const status = Number(found[2])
    if (status < 200 && status !== 101) {
      if (++this.#informational > maxInformational) throw new Malformed('too many informational responses')
      return
    }
    this.status = status
    this.headerLines = fields
    if (found[1] === '0' || status === 101) this.isReusable = false
    let length: number | null = null
    let isChunked = false
    for (const field of fields) {
      const colon = field.indexOf(':')
      const name = field.slice(0, Math.max(0, colon)).toLowerCase()
      const value = field.slice(colon + 1).trim()
      if (name === 'content-length') {
        // Repeated, or not a number: the length is unknown.
        length = length === null && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      } else if (name === 'transfer-encoding') {
        if (isChunked || value.toLowerCase() !== 'chunked') this.isReusable = false
        isChunked = /\bchunked$/i.test(value)
      } else if (name === 'connection') {
        if (/\bclose\b/i.test(value)) this.isReusable = false
      } else if (name === 'location') {
        this.location = value
      } else if (name === 'keep-alive') {
        this.idleMs = Number(/timeout=(\d+)/i.exec(value)?.[1] ?? 'Infinity') * 1000
      } else if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) this.isReusable = false
    }
    if (length !== null && (isChunked || Number.isNaN(length))) this.isReusable = false
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
      this.isReusable = false
    }
  }

  #readCounted(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left)
    this.#left -= part.length
    this.#append(part)
    if (this.#left === 0 && !this.isOver) {
      if (this.#part === 'counted') this.#finish(true)
      else this.#part = 'after chunk'
    }
    return bytes.subarray(part.length)
  }

  /** The size before a chunk, the empty line after it, and the trailers after the last. */
  #readLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf('\n')
    const part = end < 0 ? bytes : bytes.subarray(0, end)
    this.#framingBytes += part.length
    if (this.#framingBytes > maxFramingBytes || this.#framingLines >= maxFramingLines) {
      this.#finish(false)
      return nothing
    }
    this.#pending.append(part)
    if (end < 0) return nothing
    this.#framingLines++
    const text = this.#pending.bytes.toString('latin1')
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

  #append(bytes: Buffer): Buffer {
    const free = maxBodyBytes - this.#body.size
    this.#body.append(bytes.subarray(0, free))
    if (bytes.length > free) this.#finish(false)
    return nothing
  }

  #finish(isReusable: boolean): void {
    this.#part = 'over'
    this.#pending.clear()
    if (!isReusable) this.isReusable = false
  }
}
