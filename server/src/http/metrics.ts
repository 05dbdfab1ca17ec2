import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sameBytes, sha256 } from '../lib/hash.ts'
import { refuse } from '../lib/refuse.ts'
import { isLoopback } from '../net/addresses.ts'
import { peerAddress } from './client-address.ts'

export interface MetricsOptions {
  /** The bearer token that allows reading from anywhere. Null: only requests from this machine are allowed. */
  token: string | null
  contentType: string
  render(): Promise<string>
}

/** Headers that a proxy adds to the requests it forwards. */
const forwarding = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'] as const

export function mountMetrics(app: FastifyInstance, { token, contentType, render }: MetricsOptions): void {
  app.get('/metrics', async (request, reply) => {
    if (token !== null) requireToken(request, token)
    else requireLocal(request)
    return reply
      .type(contentType)
      .header('Cache-Control', 'no-store')
      .send(await render())
  })
}

function requireToken({ headers }: FastifyRequest, token: string): void {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  // Digests have the same length, so the time reveals nothing about the token.
  if (sameBytes(sha256(given), sha256(token))) return
  refuse('invalid_key', {
    message: 'Invalid metrics token. Send the value of PARLEY_METRICS_TOKEN as a bearer token.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

/**
 * A client on this machine may be a proxy that forwards requests from the Internet, and a web page can use DNS
 * rebinding to reach a local address under its own name. So the connection has to be local, no proxy may have forwarded
 * the request, and the Host header has to be a loopback address.
 */
function requireLocal({ raw, headers }: FastifyRequest): void {
  const local =
    isLoopback(peerAddress(raw.socket)) &&
    forwarding.every((name) => headers[name] === undefined) &&
    isLoopback((headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
  if (local) return
  refuse('ip_not_allowed', {
    message:
      'Metrics are available only from this machine. Set PARLEY_METRICS_TOKEN to read them remotely or through a proxy.',
  })
}
