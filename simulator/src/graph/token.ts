import type { FastifyRequest } from 'fastify'
import { GraphError, refuse } from '../network/errors.ts'
import type { Network } from '../network.ts'
import type { AccessToken } from '../world.ts'

export function tokenText(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization
  const bearer = header === undefined ? undefined : /^(?:Bearer|OAuth)\s+(\S+)$/i.exec(header)?.[1]
  const query = request.query as Record<string, unknown>
  return bearer ?? (typeof query.access_token === 'string' ? query.access_token : undefined)
}

/** Finds the access token, or throws the error that WhatsApp returns for it. */
export function authenticate(network: Network, text: string | undefined): AccessToken {
  if (!text) throw new GraphError(190, { title: 'An access token is required to request this resource.' })
  const token = network.world.tokens.get(text)
  if (!token) throw new GraphError(190)
  if (token.revoked) refuse(0)
  if (token.expiresAt && new Date(token.expiresAt) <= network.timers.now()) {
    const when = new Date(token.expiresAt).toUTCString()
    const now = network.timers.now().toUTCString()
    throw new GraphError(190, {
      title: `Error validating access token: Session has expired on ${when}. The current time is ${now}.`,
      subcode: 463,
    })
  }
  return token
}

/** The token as the log shows it. */
export function maskToken(text: string | undefined): string | null {
  return text ? `${text.slice(0, 4)}…${text.slice(-4)}` : null
}
