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

/** What `GET /debug_token` says about a token, which may be another one than that of the request. */
export function debugToken(network: Network, text: string | undefined): unknown {
  const token = text === undefined ? undefined : network.world.tokens.get(text)
  if (!token)
    return { data: { error: { code: 190, message: 'Invalid OAuth access token.' }, is_valid: false, scopes: [] } }
  const expiresAt = token.expiresAt === null ? 0 : Math.trunc(new Date(token.expiresAt).getTime() / 1000)
  return {
    data: {
      app_id: token.appId,
      type: 'SYSTEM_USER',
      application: network.world.apps.get(token.appId)?.name ?? '',
      data_access_expires_at: 0,
      expires_at: expiresAt,
      is_valid: !token.revoked && (expiresAt === 0 || expiresAt * 1000 > network.timers.now().getTime()),
      scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
    },
  }
}

/** The token as the log shows it. */
export function maskToken(text: string | undefined): string | null {
  return text ? `${text.slice(0, 4)}…${text.slice(-4)}` : null
}
