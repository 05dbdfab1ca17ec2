import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector, Client, type Dispatcher } from 'undici'
import { faultOf, Late, type OutboundFault } from './outbound-error.ts'
import { Blocked, guardAddresses, guardedAddresses, literalAddress, type TargetRules } from './target-guard.ts'

export interface OutboundOptions extends TargetRules {
  /** Certificates that are trusted besides the system's. */
  ca: string | null
  /** From resolving the name to the status line. */
  deadlineMs?: number
  /** For what of the answer is read after that. */
  answerDeadlineMs?: number
}

/** What was sent, and what came back. `fault` is null when the answer is a 2xx. */
export interface Posted {
  status: number | null
  fault: OutboundFault | null
  /** The address that was reached. */
  address: string | null
  /** How the answer begins. */
  answer: Buffer
  durationUs: number
}

export interface Outbound {
  post(url: URL, headers: string[], body: Buffer): Promise<Posted>
  close(): Promise<void>
}

const maxAnswerBytes = 16 * 1024
const maxIdleLines = 64

/**
 * Posts to addresses that strangers chose. Every connection is made to an address that was checked, redirects are not
 * followed, and neither time nor memory has no end. A line is one connection, kept for the next post to the same origin.
 */
export function newOutbound(options: OutboundOptions): Outbound {
  const { deadlineMs = 10_000, answerDeadlineMs = 2_000 } = options
  const idle = new Map<string, Line[]>()
  const busy = new Set<Line>()
  // Made once: reading some hundred certificates takes longer than a handshake.
  const secureContext = createSecureContext({ ca: rootsWith(options.ca) })
  const dial = (protocol: string) =>
    buildConnector({
      allowH2: false,
      timeout: deadlineMs,
      secureContext,
      lookup: (hostname, lookupOptions, done) => {
        guardedAddresses(options, protocol, hostname).then(
          (found) => {
            const first = found[0]
            if (lookupOptions.all) done(null, found)
            else done(null, first?.address ?? '', first?.family ?? 0)
          },
          (error) => done(error, '', 0),
        )
      },
    })
  const dials = { 'https:': dial('https:'), 'http:': dial('http:') }

  function lineTo(url: URL): Line {
    const line = idle.get(url.origin)?.pop() ?? newLine(url, dials[url.protocol as keyof typeof dials])
    busy.add(line)
    return line
  }

  function giveBack(origin: string, line: Line, sound: boolean): void {
    busy.delete(line)
    const kept = idle.get(origin) ?? []
    if (!sound || kept.length >= maxIdleLines) {
      line.client.destroy().catch(() => {})
      return
    }
    idle.set(origin, kept)
    kept.push(line)
  }

  return {
    post(url, headers, body) {
      const began = performance.now()
      try {
        // No name to resolve, no look at where it leads: this is the look.
        const literal = literalAddress(url.hostname)
        if (literal) guardAddresses(options, url.protocol, [literal])
        else if (url.protocol === 'http:' && options.allowHttp === false) throw new Blocked('plain http')
      } catch {
        return Promise.resolve({
          status: null,
          fault: 'blocked',
          address: null,
          answer: Buffer.alloc(0),
          durationUs: 0,
        })
      }
      const line = lineTo(url)
      return new Promise((resolve) => {
        const exchange = new Exchange(line, deadlineMs, answerDeadlineMs, (sound) => {
          giveBack(url.origin, line, sound)
          const { status, fault, answer } = exchange
          const durationUs = Math.round((performance.now() - began) * 1000)
          resolve({ status, fault, address: line.address, answer: Buffer.concat(answer), durationUs })
        })
        line.client.dispatch({ method: 'POST', path: url.pathname + url.search, headers, body }, exchange)
      })
    },
    async close() {
      const lines = [...[...idle.values()].flat(), ...busy]
      idle.clear()
      await Promise.all(lines.map((line) => line.client.destroy().catch(() => {})))
    },
  }
}

interface Line {
  client: Client
  address: string | null
}

function newLine(url: URL, dial: buildConnector.connector): Line {
  const line: Line = {
    address: null,
    client: new Client(url.origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 10_000,
      connect(asked: buildConnector.Options, done: buildConnector.Callback) {
        line.address = null
        dial(asked, (...[error, socket]) => {
          line.address = socket?.remoteAddress ?? null
          if (error) done(error, null)
          else done(null, socket)
        })
      },
    }),
  }
  return line
}

/** One post on one line: waits for the status, then for as much of the answer as is kept. */
class Exchange implements Dispatcher.DispatchHandler {
  status: number | null = null
  fault: OutboundFault | null = null
  answer: Buffer[] = []
  #size = 0
  #over = false
  #timer: NodeJS.Timeout
  readonly #line: Line
  readonly #answerDeadlineMs: number
  readonly #done: (sound: boolean) => void

  constructor(line: Line, deadlineMs: number, answerDeadlineMs: number, done: (sound: boolean) => void) {
    this.#line = line
    this.#answerDeadlineMs = answerDeadlineMs
    this.#done = done
    this.#timer = setTimeout(() => this.#fail(new Late('no answer in time')), deadlineMs)
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.#over) return
    this.status = status
    this.fault = status < 300 ? null : 'http'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#finish(false), this.#answerDeadlineMs)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return
    // A copy: the chunk is a window on the parser's own memory.
    this.answer.push(Buffer.from(chunk.subarray(0, maxAnswerBytes - this.#size)))
    this.#size += chunk.length
    if (this.#size > maxAnswerBytes) this.#finish(false)
  }

  onResponseEnd(): void {
    this.#finish(true)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error)
  }

  /** What fails once the status is known changes nothing: the receiver has spoken. */
  #fail(error: Error): void {
    if (this.#over) return
    if (this.status === null) this.fault = faultOf(error, this.#line.address !== null)
    this.#finish(false)
  }

  #finish(sound: boolean): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#done(sound)
  }
}

const rootsWith = (ca: string | null): string[] => [
  ...new Set([...getCACertificates('default'), ...getCACertificates('system')]),
  ...(ca === null ? [] : [ca]),
]
