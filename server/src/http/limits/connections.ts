import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type AddressRange, addressBlock, isWithin } from '../../net/addresses.ts'
import type { Overload } from '../../sharing/overload.ts'
import { peerAddress } from '../client-address.ts'
import { hasBody } from '../json-body.ts'
import { AmountByKey } from './bytes.ts'
import type { Limits } from './limits.ts'

export interface ConnectionsOptions {
  limits: Limits
  /** A proxy carries the connections of many clients: only the limits of the process apply to its own address. */
  trustProxy: readonly AddressRange[]
  overload: Overload
  addressOf(request: IncomingMessage): string
  /** Whether this client may exceed `processRequests`: the network, which has limits of its own. */
  isExempt(request: IncomingMessage, block: string): boolean
}

interface Connection {
  socket: Socket
  block: string
  isProxy: boolean
  requests: Set<RequestInProgress>
}

/**
 * Limits the connections and the requests in progress of a process and of each client address, and the bytes of
 * responses that clients do not read.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #connections = new Map<Socket, Connection>()
  readonly #connectionsOf = new AmountByKey()
  readonly #requestsOf = new AmountByKey()
  readonly #inProgress = new WeakMap<ServerResponse, RequestInProgress>()
  #closedIdleMs = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  get open(): number {
    return this.#connections.size
  }

  get max(): number {
    return this.#options.limits.processConnections
  }

  get requests(): number {
    return this.#requestsOf.total
  }

  watch(server: Server): void {
    const { limits, overload } = this.#options
    server.maxConnections = limits.processConnections
    server.on('drop', (dropped) => {
      overload.count('process_connections', dropped?.remoteAddress)
      // The next one is accepted.
      if (performance.now() - this.#closedIdleMs < closeIdleEveryMs) return
      this.#closedIdleMs = performance.now()
      server.closeIdleConnections()
    })
    server.on('connection', (socket: Socket) => this.#open(socket))
    server.on('timeout', (socket: Socket) => {
      // Without a request it is only idle.
      if (this.#connections.get(socket)?.requests.size) overload.count('stalled_connections', peerAddress(socket))
      socket.destroy()
    })
    const check = setInterval(() => this.#cutUnread(), unreadCheckMs).unref()
    server.once('close', () => clearInterval(check))
  }

  /** Counts a request until its response is closed and its work is done. Throws if it exceeds a limit. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { limits, overload, addressOf, isExempt } = this.#options
    const { socket } = request
    const address = addressOf(request)
    const block = addressBlock(address)
    const connection = this.#connections.get(socket)
    if (connection && connection.requests.size >= limits.connectionRequests) {
      socket.destroy()
      throw overload.refusal('pipelined_requests', address)
    }
    const exceeded = this.#exceededBy(block)
    if (exceeded && !(exceeded === 'process_requests' && isExempt(request, block))) {
      // Close the connection instead of reading the body.
      throw overload.refusal(exceeded, address, hasBody(request) ? { Connection: 'close' } : {})
    }
    const counted = new RequestInProgress(response, this.#count(block))
    this.#inProgress.set(response, counted)
    if (connection) {
      connection.requests.add(counted)
      response.once('close', () => {
        // The connection may have closed first.
        if (connection.requests.delete(counted)) counted.closed()
      })
    } else counted.closed()
  }

  /** The work for the request is done, but its response may not be sent yet. */
  worked(response: ServerResponse): void {
    this.#inProgress.get(response)?.worked()
  }

  /** Does not count a request any more. Its connection still counts. */
  setAside(response: ServerResponse): void {
    this.#inProgress.get(response)?.setAside()
  }

  /**
   * Calls `left` once the client has left, or at once if it has already. A response that waits behind others on its connection
   * gets no `close` event. Returns a function that ends that.
   */
  onLeft(response: ServerResponse, left: () => void): () => void {
    return this.#inProgress.get(response)?.onClosed(left) ?? (() => {})
  }

  /** Counts bytes that are not a request, until the returned function is called. Null if they exceed a limit. */
  beginInvalid(socket: Socket): (() => void) | null {
    const address = peerAddress(socket)
    const block = addressBlock(address)
    const exceeded = this.#exceededBy(block)
    if (exceeded) this.#options.overload.count(exceeded, address)
    return exceeded ? null : this.#count(block)
  }

  #exceededBy(block: string): 'address_requests' | 'process_requests' | null {
    const { addressRequests, processRequests } = this.#options.limits
    if (this.#requestsOf.of(block) >= addressRequests) return 'address_requests'
    return this.#requestsOf.total >= processRequests ? 'process_requests' : null
  }

  #count(block: string): () => void {
    this.#requestsOf.add(block, 1)
    return () => this.#requestsOf.add(block, -1)
  }

  #open(socket: Socket): void {
    const { limits, overload, trustProxy } = this.#options
    const address = peerAddress(socket)
    const block = addressBlock(address)
    const isProxy = trustProxy.length > 0 && isWithin(address, trustProxy)
    if (!isProxy && this.#connectionsOf.of(block) >= limits.addressConnections) {
      overload.count('address_connections', address)
      socket.destroy()
      return
    }
    const connection: Connection = { socket, block, isProxy, requests: new Set() }
    this.#connections.set(socket, connection)
    this.#connectionsOf.add(block, 1)
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#connectionsOf.add(block, -1)
      // A response that waits behind others on its connection gets no `close` event with it.
      for (const request of connection.requests) request.closed()
      connection.requests.clear()
    })
  }

  /** Cuts the connections with the most unread bytes, until the others are within the limits. */
  #cutUnread(): void {
    const { limits, overload } = this.#options
    const { all, each } = limits.bytes.unread
    const ofBlock = new AmountByKey()
    const unread: { connection: Connection; bytes: number }[] = []
    for (const connection of this.#connections.values()) {
      const bytes = unreadBytes(connection)
      if (bytes === 0) continue
      ofBlock.add(connection.block, bytes)
      unread.push({ connection, bytes })
    }
    for (const { connection, bytes } of unread.sort((left, right) => right.bytes - left.bytes)) {
      const { socket, block, isProxy } = connection
      const exceedsAddress = !isProxy && ofBlock.of(block) > each
      if (ofBlock.total <= all && !exceedsAddress) continue
      overload.count('unread_responses', peerAddress(socket))
      socket.destroy()
      ofBlock.add(block, -bytes)
    }
  }
}

/** A request in progress. It counts until its response is closed and its work is done: a client can leave earlier. */
export class RequestInProgress {
  readonly response: ServerResponse
  /** Null once it is set aside. */
  #end: (() => void) | null
  #pending = 2
  #isClosed = false
  #onClosed: (() => void) | null = null

  constructor(response: ServerResponse, end: () => void) {
    this.response = response
    this.#end = end
  }

  setAside(): void {
    this.#end?.()
    this.#end = null
  }

  worked(): void {
    this.#finish()
  }

  closed(): void {
    this.#isClosed = true
    this.#onClosed?.()
    this.#finish()
  }

  /** Calls `closed` when its response is closed. There can be one such function at a time; the returned one removes it. */
  onClosed(closed: () => void): () => void {
    if (this.#isClosed) closed()
    else this.#onClosed = closed
    return () => {
      this.#onClosed = null
    }
  }

  #finish(): void {
    if (--this.#pending === 0) this.#end?.()
  }
}

/** Often enough that the responses of one address cannot take much more memory than their limit in between. */
const unreadCheckMs = 500

const closeIdleEveryMs = 1000

/** Includes responses that wait behind others on their connection. */
function unreadBytes({ socket, requests }: Connection): number {
  let bytes = socket.writableLength
  if (requests.size > 1) for (const { response } of requests) if (!response.socket) bytes += response.writableLength
  return bytes
}
