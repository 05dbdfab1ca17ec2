import { can, type Permission, type Role } from '@parley/contract/console/permissions'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../db/db.ts'
import type { AddressRange } from '../../lib/addresses.ts'
import type { Clock } from '../../lib/clock.ts'
import { plainSchema } from '../../lib/field-errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { Logger } from '../../lib/logger.ts'
import { refuse } from '../../lib/refuse.ts'
import type { Bodies } from '../bodies.ts'
import { clientAddressReader } from '../client-address.ts'
import type { ClientTimeouts } from '../client-timeouts.ts'
import { parseJson } from '../json-body.ts'
import { toJsonFor } from '../to-json.ts'
import { checkFor } from '../validate.ts'
import { Cookies } from './cookies.ts'
import {
  type AuditedAction,
  type ConsoleContext,
  type ConsoleRoute,
  fullPath,
  isWorkspaceRoute,
  type SignedIn,
  type WorkspaceContext,
} from './route.ts'
import { requireSameOrigin } from './same-origin.ts'

export interface Membership {
  role: Role
  /** The workspace asks for a second factor. */
  requiresTwoFactor: boolean
}

export interface Signature {
  personId: string | null
  name: string
  address: string
  userAgent: string | null
}

export interface ConsoleDeps {
  db: Db
  clock: Clock
  log: Logger
  publicUrl: string
  trustProxy: readonly AddressRange[]
  timeouts: ClientTimeouts
  bodies: Bodies
  /** Whose session a cookie is. That somebody is there keeps it from running out. */
  sessionOf(token: string, isThere: boolean): Promise<SignedIn | null>
  membershipOf(personId: string, workspaceId: string): Promise<Membership | null>
  record(db: Db, who: Signature, action: Omit<AuditedAction, 'by'> & { workspaceId: string | null }): Promise<void>
}

/** The console's API: session → permission → confirmation → input → handler, and one entry in the record for a deed. */
export function mountConsole(app: FastifyInstance, routes: readonly ConsoleRoute[], deps: ConsoleDeps): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders(request.id))
    requireSameOrigin(request, deps.publicUrl)
  })
  app.setNotFoundHandler(() => refuse('not_found'))
  const door = newConsoleGuard(deps)
  for (const route of routes) mountRoute(app, route, deps, door)
}

/** Headers of every answer of the console's API. */
export const commonHeaders = (requestId: string): Record<string, string> => ({
  'X-Request-Id': requestId,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
})

export interface ConsoleClient {
  person: SignedIn | null
  workspaceId: string | null
  role: Role | null
}

export type FramedPage = ReturnType<typeof newConsoleGuard>

/** Lets in whoever may; also for what is not an ordinary route, such as a stream. */
export function newConsoleGuard(deps: ConsoleDeps) {
  const cookies = new Cookies(deps.publicUrl)
  const addressOf = clientAddressReader(deps.trustProxy)
  return {
    cookies,
    addressOf,
    async enter(
      request: FastifyRequest,
      who: ConsoleRoute['who'],
      workspaceId: string | null,
      isThere = true,
    ): Promise<ConsoleClient> {
      if (who === 'anyone') return { person: null, workspaceId: null, role: null }
      const token = cookies.read(request.headers.cookie, 'session')
      const person = token === undefined ? null : await deps.sessionOf(token, isThere)
      if (!person) refuse('not_signed_in')
      if (who === 'person') return { person, workspaceId: null, role: null }
      if (who === 'operator') {
        if (!person.operator) refuse('not_permitted', { message: 'Only an operator may do this.' })
        return { person, workspaceId: null, role: null }
      }
      const membership =
        workspaceId !== null && isUuid(workspaceId) ? await deps.membershipOf(person.personId, workspaceId) : null
      // A workspace one does not belong to answers as one that never was.
      if (!membership || workspaceId === null) refuse('not_found')
      if (membership.requiresTwoFactor && !person.twoFactor) refuse('two_factor_required')
      if (!can(membership.role, who)) notPermitted(membership.role, who)
      return { person, workspaceId, role: membership.role }
    },
  }
}

const notPermitted = (role: Role, permission: Permission): never =>
  refuse('not_permitted', {
    message: `Your role in this workspace, ${role}, does not allow this. Ask an admin.`,
    details: { role, permission },
  })

function mountRoute(app: FastifyInstance, route: ConsoleRoute, deps: ConsoleDeps, door: FramedPage): void {
  const path = fullPath(route)
  const changes = route.method !== 'GET'
  const status = route.status ?? 200
  const checks = {
    params: route.params && checkFor('params', route.params),
    query: checkFor('query', route.query ?? nothing),
    body: checkFor('body', route.body ?? nothing),
  }
  const toJson = toJsonFor(route.reply)
  app.route({
    method: route.method,
    url: path.slice(app.prefix.length),
    schema: { response: { [status]: plainSchema(route.reply) } },
    serializerCompiler: () => toJson,
    async handler(request, reply) {
      const { workspace, ...params } = request.params as Record<string, string>
      try {
        const visitor = await door.enter(request, route.who, isWorkspaceRoute(route) ? (workspace ?? null) : null)
        if (route.confirmed && !isFresh(visitor.person, deps.clock)) refuse('confirmation_required')
        const body = changes ? await readInput(deps, request) : {}
        checks.params?.(params)
        checks.query(request.query)
        if (changes) checks.body(body)
        const input = { params, query: request.query, body } as never
        const whole = visitor.workspaceId === null ? deps.db : deps.db.within(visitor.workspaceId)
        let entries = 0
        const handle = async (db: Db) => {
          const context = newContext(deps, door, request, reply, visitor, db, () => entries++)
          const answer = await route.handle(context as never, input)
          if (changes && entries !== (route.unaudited === undefined ? 1 : 0)) {
            throw new Error(`${route.method} ${path} put ${entries} deeds on record`)
          }
          return answer
        }
        const answer = changes && !route.ownTransactions ? await whole.transaction(handle) : await handle(whole)
        return reply.code(status).send(status === 204 ? undefined : answer)
      } finally {
        deps.bodies.release(request.raw)
      }
    },
  })
}

/** The JSON of the body. Read after the session was checked, so that a stranger cannot make us read and parse it. */
async function readInput({ bodies, timeouts }: ConsoleDeps, { raw }: FastifyRequest): Promise<unknown> {
  const bytes = await bodies.read(raw, 'client', timeouts.bodyMs)
  return bytes.length === 0 ? {} : parseJson(bytes)
}

const nothing = { type: 'object', additionalProperties: false, properties: {} }

const isFresh = (person: SignedIn | null, clock: Clock): boolean =>
  person?.confirmedUntil != null && person.confirmedUntil.getTime() > clock.now().getTime()

function newContext(
  deps: ConsoleDeps,
  { cookies, addressOf }: FramedPage,
  request: FastifyRequest,
  reply: FastifyReply,
  { person, workspaceId, role }: ConsoleClient,
  db: Db,
  counted: () => void,
): ConsoleContext & Partial<WorkspaceContext> {
  const address = addressOf(request.raw)
  const userAgent = request.headers['user-agent'] ?? null
  return {
    db,
    clock: deps.clock,
    requestId: request.id,
    address,
    userAgent,
    ...(person ? { person } : {}),
    ...(workspaceId !== null && role ? { workspaceId, role } : {}),
    cookie: (name) => cookies.read(request.headers.cookie, name),
    // Fastify adds to the cookies that are set already.
    setCookie: (name, value) => void reply.header('Set-Cookie', cookies.write(name, value)),
    setHeader: (name, value) => void reply.header(name, value),
    async audit(action, within = db) {
      counted()
      const { by = person ?? { personId: null, email: 'nobody' }, workspaceId: where = workspaceId, ...done } = action
      const who = { personId: by.personId, name: by.email, address, userAgent }
      await deps.record(within, who, { ...done, workspaceId: where })
    },
  }
}
