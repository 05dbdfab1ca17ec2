import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Counters } from '../lib/counters.ts'
import { Refusal, refuse } from '../lib/refuse.ts'
import { peerAddress } from './client-address.ts'

export interface MetricsOptions {
  /** Whoever has it may look, from anywhere. Null: only whoever is on this machine may. */
  token: string | null
  contentType: string
  render(): Promise<string>
}

/** What a proxy adds to what it passes on. */
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
  // Digests have one length, so the time it takes tells nothing of how much of it was right.
  if (timingSafeEqual(digest(given), digest(token))) return
  refuse('invalid_key', {
    message: 'Metrics are read with the bearer token that PARLEY_METRICS_TOKEN holds.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * A caller on this machine may be a proxy that passes on what the whole Internet asks, and a name that leads here may have
 * been given by a stranger's page. So the connection has to be local, nobody may have passed the request on, and it has to
 * be meant for this machine by an address of its own.
 */
function requireLocal({ raw, headers }: FastifyRequest): void {
  const local =
    isLoopback(peerAddress(raw.socket)) &&
    forwarding.every((name) => headers[name] === undefined) &&
    isLoopback((headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
  if (local) return
  refuse('ip_not_allowed', {
    message:
      'Metrics are for this machine alone. Set PARLEY_METRICS_TOKEN to read them from elsewhere or through a proxy.',
  })
}

const isLoopback = (host: string): boolean => /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)

type Receive = (appId: string, body: Buffer, signature: string | string[] | undefined) => Promise<void>

type Screen = (appId: string, signature: string | string[] | undefined) => Promise<void> | undefined

/** The same, with each refusal counted. */
export const countedScreen =
  (screen: Screen, tally: Counters): Screen =>
  (appId, signature) => {
    const refused = (error: unknown): never => {
      tally.add('network webhooks', error instanceof Refusal ? 'refused' : 'failed')
      throw error
    }
    try {
      return screen(appId, signature)?.catch(refused)
    } catch (error) {
      return refused(error)
    }
  }

/** The same, with what became of each webhook of the network counted. */
export const counted =
  (receive: Receive, tally: Counters): Receive =>
  async (appId, body, signature) => {
    const began = performance.now()
    let outcome = 'failed'
    try {
      await receive(appId, body, signature)
      outcome = 'kept'
    } catch (error) {
      if (error instanceof Refusal) outcome = 'refused'
      throw error
    } finally {
      tally.add('network webhooks', outcome)
      tally.time('network webhooks', performance.now() - began)
    }
  }
