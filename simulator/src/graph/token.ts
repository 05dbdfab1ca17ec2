import type { FastifyRequest } from 'fastify'
import { GraphError, refuse, refuseParameter } from '../network/errors.ts'
import type { Network } from '../network.ts'
import type { AccessToken } from '../world.ts'
import type { Edge } from './call.ts'

const messaging = 'whatsapp_business_messaging'
const management = 'whatsapp_business_management'

export function tokenText(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization
  const bearer = header === undefined ? undefined : /^(?:Bearer|OAuth)\s+(\S+)$/i.exec(header)?.[1]
  const query = request.query as Record<string, unknown>
  return bearer ?? (typeof query.access_token === 'string' ? query.access_token : undefined)
}

/** Finds the access token, or throws the error that WhatsApp returns for it. */
export function authenticate(network: Network, text: string | undefined): AccessToken {
  if (!text) throw new GraphError(190, { title: 'An access token is required to request this resource.' })
  const token = network.world.tokens.get(text) ?? appToken(network, text)
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

/** `APP_ID|APP_SECRET` is the token of an app. It may use the app itself, and no account. */
function appToken({ world }: Network, text: string): AccessToken | undefined {
  const [, appId, secret] = /^(\d+)\|(.*)$/.exec(text) ?? []
  if (appId === undefined) return undefined
  const app = world.apps.get(appId)
  if (!app) throw new GraphError(101)
  if (app.secret !== secret) throw new GraphError(190, { title: 'Invalid OAuth access token signature.' })
  return { token: text, appId, wabaIds: [], expiresAt: null, revoked: false, scopes: [], isApp: true }
}

/** Throws the error of a token that lacks the permission for an operation. */
export function requirePermission(token: AccessToken, { node, edge }: Edge): void {
  if (node === 'app') return
  const isMessaging = node === 'media' || edge === 'messages' || edge === 'media'
  if (!scopesOf(token).includes(isMessaging ? messaging : management)) refuse(isMessaging ? 10 : 200)
}

const scopesOf = (token: AccessToken): string[] => token.scopes ?? [management, messaging]

/** What `GET /debug_token` says about a token of the same app. It may be another one than that of the request. */
export function debugToken(network: Network, caller: AccessToken, text: string | undefined): unknown {
  const token = text === undefined ? undefined : network.world.tokens.get(text)
  if (!token)
    return { data: { error: { code: 190, message: 'Invalid OAuth access token.' }, is_valid: false, scopes: [] } }
  if (token.appId !== caller.appId)
    return refuseParameter('The App_id in the input_token did not match the Viewing App')
  const { appId, wabaIds, expiresAt } = token
  const scopes = scopesOf(token)
  const error = errorOf(network, token)
  return {
    data: {
      app_id: appId,
      type: 'SYSTEM_USER',
      application: network.world.apps.get(appId)?.name ?? '',
      data_access_expires_at: 0,
      ...(error ? { error } : {}),
      expires_at: expiresAt === null ? 0 : Math.trunc(new Date(expiresAt).getTime() / 1000),
      is_valid: error === undefined,
      scopes,
      // Without `target_ids`, the permission is for every account of the business.
      granular_scopes: scopes.map((scope) => ({ scope, ...(wabaIds === null ? {} : { target_ids: wabaIds }) })),
    },
  }
}

function errorOf(network: Network, { token }: AccessToken): object | undefined {
  try {
    authenticate(network, token)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof GraphError)) throw thrown
    const { code, title: message, subcode } = thrown.error
    return { code, message, ...(subcode === undefined ? {} : { subcode }) }
  }
}

/** The token as the log shows it. */
export function maskToken(text: string | undefined): string | null {
  return text ? `${text.slice(0, 4)}…${text.slice(-4)}` : null
}
