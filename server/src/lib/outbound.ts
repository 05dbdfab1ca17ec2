import type { Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { buildConnector } from 'undici'
import { forgetOldest } from './forget-oldest.ts'
import { Line } from './line.ts'
import { faultOf, type OutboundFault } from './outbound-error.ts'
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
  /** The headers are names and values in turn, of printable ASCII; those of the connection and the length are added. */
  post(url: URL, headers: readonly string[], body: Buffer): Promise<Posted>
  close(): Promise<void>
}

const maxIdleLines = 64

/**
 * Posts to addresses that strangers chose. Every connection is made to an address that was checked, redirects are not
 * followed, and neither time nor memory has no end. A line is one connection, kept for the next post to the same origin.
 */
export function newOutbound(options: OutboundOptions): Outbound {
  const { deadlineMs = 10_000, answerDeadlineMs = 2_000 } = options
  const dial = newDial(options, deadlineMs)
  const idle = new Map<string, Line[]>()
  const all = new Set<Line>()
  const blocked = new Map<string, boolean>()

  function lineTo(url: URL): Line {
    const kept = idle.get(url.origin)
    for (let line = kept?.pop(); line; line = kept?.pop()) {
      if (line.isUsable) return line
      line.close()
    }
    const line = new Line({ deadlineMs, answerDeadlineMs })
    all.add(line)
    line.onClosed = () => forget(url.origin, line)
    dial(url, (error, socket) => {
      if (error) line.failed(error)
      else line.connected(socket)
    })
    return line
  }

  function forget(origin: string, line: Line): void {
    all.delete(line)
    const kept = idle.get(origin) ?? []
    const place = kept.indexOf(line)
    if (place >= 0) kept.splice(place, 1)
    if (kept.length === 0) idle.delete(origin)
  }

  function giveBack(origin: string, line: Line): void {
    if (!line.isUsable) {
      line.close()
      return
    }
    const kept = idle.get(origin) ?? []
    if (kept.length === 0) idle.set(origin, kept)
    if (kept.length < maxIdleLines) kept.push(line)
    else line.close()
  }

  /** A redirect is not followed wherever it leads; where it leads to what must not be reached, that is what failed. */
  function faultIn(url: URL, { status, location }: Line): OutboundFault | null {
    if (status === null || status < 200 || status >= 400) return 'http'
    if (status < 300) return null
    const to = location ? URL.parse(location, url.href) : null
    return to && mayNot(to) ? 'blocked' : 'http'
  }

  function mayNot(url: URL): boolean {
    let verdict = blocked.get(url.origin)
    if (verdict === undefined) {
      verdict = isBlocked(options, url)
      blocked.set(url.origin, verdict)
      forgetOldest(blocked, 10_000)
    }
    return verdict
  }

  return {
    post(url, headers, body) {
      const began = performance.now()
      // No name to resolve, no look at where it leads: this is the look.
      if (mayNot(url)) {
        return Promise.resolve({ status: null, fault: 'blocked', address: null, answer: nothing, durationUs: 0 })
      }
      return new Promise((resolve) => {
        lineTo(url).begin(requestOf(url, headers, body), (line, error) => {
          giveBack(url.origin, line)
          const { status, address, answer } = line
          const durationUs = Math.min(durationMax, Math.round((performance.now() - began) * 1000))
          const fault = error ? faultOf(error, address !== null) : faultIn(url, line)
          resolve({ status, fault, address, answer, durationUs })
        })
      })
    },
    async close() {
      idle.clear()
      for (const line of all) line.failed(new Error('stopping'))
    },
  }
}

const nothing = Buffer.alloc(0)

/** What a column of 32 bits holds: a machine that was suspended in the middle of an attempt may count more. */
const durationMax = 2 ** 31 - 1

/** Head and body as one piece: one write, and most often one packet. */
function requestOf(url: URL, headers: readonly string[], body: Buffer): Buffer {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
  head += `content-length: ${body.length}\r\n\r\n`
  const request = Buffer.allocUnsafe(head.length + body.length)
  request.write(head, 'latin1')
  body.copy(request, head.length)
  return request
}

/** For a host that is an address: a name is looked at when it is resolved. */
function isBlocked(rules: TargetRules, { protocol, hostname }: URL): boolean {
  const literal = literalAddress(hostname)
  if (!literal) return protocol === 'http:' && rules.allowHttp === false
  try {
    guardAddresses(rules, protocol, [literal])
    return false
  } catch (error) {
    if (error instanceof Blocked) return true
    throw error
  }
}

type Dial = (url: URL, done: (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void) => void

function newDial(options: OutboundOptions, timeout: number): Dial {
  // Made once: reading some hundred certificates takes longer than a handshake.
  const secureContext = createSecureContext({ ca: rootsWith(options.ca) })
  const dialBy = (protocol: string) =>
    buildConnector({
      allowH2: false,
      timeout,
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
  const dials = { 'https:': dialBy('https:'), 'http:': dialBy('http:') }
  return ({ protocol, host, hostname, port }, done) =>
    dials[protocol as keyof typeof dials](
      { protocol, host, hostname: literalAddress(hostname) ?? hostname, port },
      (...[error, socket]) => {
        if (error) done(error, null)
        else done(null, socket)
      },
    )
}

const rootsWith = (ca: string | null): string[] => [
  ...new Set([...getCACertificates('default'), ...getCACertificates('system')]),
  ...(ca === null ? [] : [ca]),
]
