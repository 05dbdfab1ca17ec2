import type { Socket } from 'node:net'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import type { buildConnector as BuildConnector } from 'undici'
import { deleteOldest } from '../lib/delete-oldest.ts'
import { load } from '../lib/load.ts'
import { LookupError } from './lookup-error.ts'
import { OutboundConnection } from './outbound-connection.ts'
import { type OutboundErrorKind, outboundErrorKind } from './outbound-error.ts'
import { storedHeaders } from './stored-headers.ts'
import type { Address } from './system-names.ts'
import { Blocked, guardAddresses, guardedAddresses, literalAddress, type TargetRules } from './target-guard.ts'

export interface OutboundOptions extends TargetRules {
  /** Certificates that are trusted in addition to the system's. */
  ca: string | null
  /** The limit from the DNS lookup to the status line. */
  deadlineMs?: number
  /** The limit from the status line to the end of the body. */
  bodyDeadlineMs?: number
}

/** The result of a request. `fault` is null if the response is a 2xx. */
export interface Posted {
  status: number | null
  fault: OutboundErrorKind | null
  address: string | null
  /** The headers of the response as they are stored; null if there was none. */
  responseHeaders: string | null
  /** The first 16 KiB of the response body. */
  responseBody: Buffer
  durationUs: number
}

export interface Outbound {
  /**
   * `headers` alternates names and values in printable ASCII. Host, connection and length are added. `workspaceId` is
   * charged for looking up the name. Null if no request was made because this installation could not look up any name.
   */
  post(url: URL, headers: readonly string[], body: Buffer, workspaceId?: string): Promise<Posted | null>
  close(): Promise<void>
}

const maxIdle = 64

/**
 * Posts to URLs that customers chose. Every connection is made to a checked address, redirects are not followed, and
 * time and memory are bounded. Connections are kept for the next request to the same origin.
 */
export function newOutbound(options: OutboundOptions): Outbound {
  const { deadlineMs = 10_000, bodyDeadlineMs = 2_000 } = options
  const dial = newDial(options, deadlineMs)
  const idle = new Map<string, OutboundConnection[]>()
  const all = new Set<OutboundConnection>()
  const blocked = new Map<string, boolean>()

  function connectionTo(url: URL, workspaceId: string | undefined): OutboundConnection {
    const connections = idle.get(url.origin)
    for (let connection = connections?.pop(); connection; connection = connections?.pop()) {
      if (connection.isUsable) return connection
      connection.close()
    }
    const connection = new OutboundConnection({ deadlineMs, bodyDeadlineMs })
    all.add(connection)
    connection.onClosed = () => forget(url.origin, connection)
    dial(url, workspaceId, (error, socket) => {
      if (error) connection.failed(error)
      else connection.connected(socket)
    })
    return connection
  }

  function forget(origin: string, connection: OutboundConnection): void {
    all.delete(connection)
    const connections = idle.get(origin) ?? []
    const index = connections.indexOf(connection)
    if (index >= 0) connections.splice(index, 1)
    if (connections.length === 0) idle.delete(origin)
  }

  function release(origin: string, connection: OutboundConnection): void {
    if (!connection.isUsable) {
      connection.close()
      return
    }
    const connections = idle.get(origin) ?? []
    if (connections.length === 0) idle.set(origin, connections)
    if (connections.length < maxIdle) connections.push(connection)
    else connection.close()
  }

  /** A redirect is never followed. One to an address that must not be reached fails as `blocked`. */
  function errorKindOf(url: URL, { status, location }: OutboundConnection): OutboundErrorKind | null {
    if (status === null || status < 200 || status >= 400) return 'http'
    if (status < 300) return null
    const to = location ? URL.parse(location, url.href) : null
    return to && isBlocked(to) ? 'blocked' : 'http'
  }

  function isBlocked(url: URL): boolean {
    let result = blocked.get(url.origin)
    if (result === undefined) {
      result = isBlockedAddress(options, url)
      blocked.set(url.origin, result)
      deleteOldest(blocked, 10_000)
    }
    return result
  }

  return {
    post(url, headers, body, workspaceId) {
      const began = performance.now()
      // A name is checked when it is resolved; an address in the URL is checked here.
      if (isBlocked(url)) {
        return Promise.resolve({ status: null, fault: 'blocked', address: null, ...noResponse, durationUs: 0 })
      }
      return new Promise((resolve) => {
        connectionTo(url, workspaceId).begin(requestOf(url, headers, body), (connection, error) => {
          release(url.origin, connection)
          if (error instanceof LookupError && error.isOurs) return resolve(null)
          const { status, address, headerLines, body: responseBody } = connection
          const durationUs = Math.min(maxDurationUs, Math.round((performance.now() - began) * 1000))
          const fault = error ? outboundErrorKind(error, address !== null) : errorKindOf(url, connection)
          const responseHeaders = status === null ? null : storedHeaders(headerLines)
          resolve({ status, fault, address, responseHeaders, responseBody, durationUs })
        })
      })
    },
    async close() {
      idle.clear()
      for (const connection of all) connection.failed(new Error('stopping'))
    },
  }
}

const noResponse = { responseHeaders: null, responseBody: Buffer.alloc(0) }

/** The limit of the 32-bit column. If the machine was suspended during an attempt, the duration can be longer. */
const maxDurationUs = 2 ** 31 - 1

/** Joins head and body, so that they are sent in one write and usually in one packet. */
function requestOf(url: URL, headers: readonly string[], body: Buffer): Buffer {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
  head += `content-length: ${body.length}\r\n\r\n`
  const request = Buffer.allocUnsafe(head.length + body.length)
  request.write(head, 'latin1')
  body.copy(request, head.length)
  return request
}

/** Only for a host that is an address: the addresses of a name are checked when it is resolved. */
function isBlockedAddress(rules: TargetRules, { protocol, hostname }: URL): boolean {
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

/** One file of undici. Loading the whole package takes 18 MB of memory. */
const buildConnector: typeof BuildConnector = load('undici/lib/core/connect.js')

type Dialed = (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void
type Dial = (url: URL, workspaceId: string | undefined, done: Dialed) => void

function newDial(options: OutboundOptions, timeout: number): Dial {
  // The checked addresses of each connection that is about to be made. undici's `lookup` has no other parameter than the
  // host, so each connection gets a host of its own there; the name in TLS and in the request is still that of the URL.
  const checked = new Map<string, Address[]>()
  let connections = 0
  const newConnect = (tls: { secureContext?: SecureContext }) =>
    buildConnector({
      allowH2: false,
      timeout,
      ...tls,
      lookup: (key, lookupOptions, done) => {
        const found = checked.get(key) ?? []
        checked.delete(key)
        if (lookupOptions.all) done(null, found)
        else done(null, found[0]?.address ?? '', found[0]?.family ?? 0)
      },
    })
  const connectPlain = newConnect({})
  // One for all connections, because reading the root certificates takes longer than a handshake.
  let connectSecurely: typeof connectPlain | undefined
  const connectFor = (protocol: string) => {
    if (protocol === 'http:') return connectPlain
    connectSecurely ??= newConnect({ secureContext: createSecureContext({ ca: rootsWith(options.ca) }) })
    return connectSecurely
  }
  return ({ protocol, host, hostname, port }, workspaceId, done) => {
    const connectTo = (target: string) =>
      connectFor(protocol)({ protocol, host, hostname: target, port }, (...[error, socket]) => {
        if (error) done(error, null)
        else done(null, socket)
      })
    const literal = literalAddress(hostname)
    if (literal) return connectTo(literal)
    guardedAddresses(options, protocol, hostname, workspaceId).then(
      (addresses) => {
        const key = `connection-${++connections}`
        checked.set(key, addresses)
        connectTo(key)
      },
      (error) => done(error, null),
    )
  }
}

const rootsWith = (ca: string | null): string[] => [
  ...new Set([...getCACertificates('default'), ...getCACertificates('system')]),
  ...(ca === null ? [] : [ca]),
]
