import { can, type Permission, type Role } from '@parley/contract/console/permissions'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { isUuid } from '../../lib/ids.ts'
import { Refusal, refuse, refuseUntil } from '../../lib/refuse.ts'
import type { AddressRange } from '../../net/addresses.ts'
import { CountedWindows } from '../../sharing/counted-windows.ts'
import type { Client } from '../../sharing/fair-queue.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Bodies } from '../bodies.ts'
import { clientAddressReader } from '../client-address.ts'
import { jsonType } from '../errors.ts'
import { readJson } from '../json-body.ts'
import { requireUsableSchema, type SchemaState } from '../lifecycle.ts'
import type { ClientTimeouts } from '../limits/limits.ts'
import { toJsonFor } from '../to-json.ts'
import { checkFor, noFields } from '../validate.ts'
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
import { Streamed } from './stream.ts'

export interface Membership {
  role: Role
  requiresTwoFactor: boolean
}

export interface Actor {
  personId: string | null
  name: string
  address: string
  userAgent: string | null
}

export interface ConsoleDeps extends SchemaState {
  db: Db
  replica: { readonly db: Db } | null
  clock: Clock
  log: Logger
  publicUrl: string
  trustProxy: readonly AddressRange[]
  timeouts: ClientTimeouts
  bodies: Bodies
  /** The session of a cookie. `isActive` extends its lifetime. */
  sessionOf(token: string, isActive: boolean): Promise<SignedIn | null>
  /** Who a request without a session counts as: the person of a known browser, or its client address. */
  clientOf(browserCookie: string | undefined, address: string): Client
  /** How many requests without a session a client may make per minute. */
  openRequestsPerMinute: number
  operatorsNeedTwoFactor: boolean
  membershipOf(personId: string, workspaceId: string): Promise<Membership | null>
  record(db: Db, who: Actor, action: Omit<AuditedAction, 'by'> & { workspaceId: string | null }): Promise<void>
}

/** The console's API: session → permission → confirmation → input → handler → one audit entry per change. */
export function mountConsole(app: FastifyInstance, routes: readonly ConsoleRoute[], deps: ConsoleDeps): void {
  app.addHook('onRequest', async (request, reply) => {
    requireUsableSchema(deps)
    reply.headers(commonHeaders)
    // Browsers count down by this clock, because their own may be wrong.
    reply.header('X-Service-Time', deps.clock.now().toISOString())
    requireSameOrigin(request, deps.publicUrl)
  })
  app.setNotFoundHandler(() => refuse('not_found'))
  const guard = newConsoleGuard(deps)
  for (const route of routes) mountRoute(app, route, deps, guard)
}

/** The headers of every response of the console's API, in addition to its request ID. */
const commonHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

export interface ConsoleClient {
  person: SignedIn | null
  workspaceId: string | null
  role: Role | null
}

/** Whether this is an operator who has to set up an authenticator app or a passkey before anything else. */
export const mustSetUpTwoFactor = (
  { operator, twoFactor, hasPasskey }: SignedIn,
  { operatorsNeedTwoFactor }: Pick<ConsoleDeps, 'operatorsNeedTwoFactor'>,
): boolean => operatorsNeedTwoFactor && operator && !twoFactor && !hasPasskey

export type ConsoleGuard = ReturnType<typeof newConsoleGuard>

/** Checks session and permission. Also used by the live stream, which is not an ordinary route. */
export function newConsoleGuard(deps: ConsoleDeps) {
  const cookies = new Cookies(deps.publicUrl)
  const addressOf = clientAddressReader(deps.trustProxy)
  const openRequests = new CountedWindows({ max: deps.openRequestsPerMinute, windowMs: 60_000, maxKeys: 20_000 })
  const clientOf = (request: FastifyRequest, person: SignedIn | null): Client =>
    person
      ? { key: `person ${person.personId}`, isKnown: true }
      : deps.clientOf(cookies.read(request.headers.cookie, 'browser'), addressOf(request.raw))
  return {
    cookies,
    addressOf,
    clientOf,
    /** Counts a request to a route that needs no session. Fails if its client has made too many. */
    countOpenRequest(request: FastifyRequest): void {
      const now = deps.clock.now()
      const { endsAt, isFull } = openRequests.count(clientOf(request, null).key, now)
      if (isFull) refuseUntil(now, endsAt, 'Too many requests from your network')
    },
    async authorize(
      request: FastifyRequest,
      who: ConsoleRoute['who'],
      workspaceId: string | null,
      isActive = true,
    ): Promise<ConsoleClient> {
      if (who === 'anyone') return { person: null, workspaceId: null, role: null }
      const token = cookies.read(request.headers.cookie, 'session')
      const person = token === undefined ? null : await deps.sessionOf(token, isActive)
      if (!person) refuse('not_signed_in')
      if (who === 'person') return { person, workspaceId: null, role: null }
      if (mustSetUpTwoFactor(person, deps)) {
        refuse('two_factor_required', {
          message:
            'Operators need two-factor authentication. Set up an authenticator app or a passkey under Your account.',
        })
      }
      if (who === 'operator') {
        if (!person.operator) refuse('not_permitted', { message: 'Only operators can do this.' })
        return { person, workspaceId: null, role: null }
      }
      const membership =
        workspaceId !== null && isUuid(workspaceId) ? await deps.membershipOf(person.personId, workspaceId) : null
      // The same error as for an unknown workspace, so that the existence of others is not revealed.
      if (!membership || workspaceId === null) refuse('not_found')
      if (membership.requiresTwoFactor && !person.twoFactor) refuse('two_factor_required')
      if (!can(membership.role, who)) notPermitted(membership.role, who)
      return { person, workspaceId, role: membership.role }
    },
  }
}

const notPermitted = (role: Role, permission: Permission): never =>
  refuse('not_permitted', {
    message: `Your role (${role}) does not allow this. Ask an admin of the workspace.`,
    details: { role, permission },
  })

function mountRoute(app: FastifyInstance, route: ConsoleRoute, deps: ConsoleDeps, guard: ConsoleGuard): void {
  const path = fullPath(route)
  const changes = route.method !== 'GET'
  const entriesExpected = (changes && route.unaudited === undefined) || route.audited ? 1 : 0
  const status = route.status ?? (route.reply ? 200 : 204)
  const checks = {
    params: route.params && checkFor('params', route.params),
    query: checkFor('query', route.query ?? noFields),
    body: checkFor('body', route.body ?? noFields),
  }
  const toJson = route.reply && toJsonFor(route.reply)
  const isStream = route.reply === Streamed
  app.route({
    method: route.method,
    url: path.slice(app.prefix.length),
    // It would do all the work of GET, and record an export that sends nothing.
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { workspace, ...params } = request.params as Record<string, string>
      try {
        if (route.who === 'anyone') guard.countOpenRequest(request)
        const client = await guard.authorize(request, route.who, isWorkspaceRoute(route) ? (workspace ?? null) : null)
        if (route.confirmed) requireConfirmation(client.person, deps.clock)
        const body = changes ? await readInput(deps, request, client) : {}
        checks.params?.(params)
        checks.query(request.query)
        if (changes) checks.body(body)
        const input = { params, query: request.query, body } as never
        const { replica } = deps
        if (changes && replica) reply.header('Set-Cookie', guard.cookies.write('changed', '1'))
        const within = (all: Db) => (client.workspaceId === null ? all : all.within(client.workspaceId))
        const db = within(deps.db)
        // A person never sees a state from before their own changes.
        const mayLag = !changes && route.mayLag && replica && !guard.cookies.read(request.headers.cookie, 'changed')
        reply.code(status)
        let entries = 0
        const handle = async (tx: Db, reading = tx) => {
          const context = newContext(deps, guard, request, reply, client, tx, () => entries++)
          const result = await route.handle({ ...context, db: reading } as never, input)
          if (entries !== entriesExpected) {
            throw new Error(`${route.method} ${path} wrote ${entries} audit entries`)
          }
          return result
        }
        const result =
          changes && !route.ownTransactions
            ? await db.transaction((tx) => handle(tx))
            : await handle(db, mayLag ? within(replica.db) : db)
        if (!toJson) return reply.send()
        if (isStream) return reply.send(result)
        return reply.type(jsonType).send(toJson(result))
      } catch (error) {
        if (route.who === 'anyone' && error instanceof Refusal && (error.status === 429 || error.status === 503)) {
          deps.db.telemetry.metrics.add('sign-ins refused', error.code)
        }
        throw error
      }
    },
  })
}

/** Called only after the session check, so that unauthenticated clients cannot make the server parse JSON. */
async function readInput(
  { bodies, timeouts }: ConsoleDeps,
  { raw }: FastifyRequest,
  { workspaceId, person }: ConsoleClient,
): Promise<unknown> {
  // Outside of workspaces, the bodies of one person are limited like those of a workspace.
  return (await readJson(bodies, raw, timeouts.bodyMs, workspaceId ?? person?.personId, true)) ?? {}
}

function requireConfirmation(person: SignedIn | null, clock: Clock): void {
  const until = person?.confirmedUntil?.getTime() ?? 0
  if (until <= clock.now().getTime()) refuse('confirmation_required')
}

function newContext(
  deps: ConsoleDeps,
  { cookies, addressOf, clientOf }: ConsoleGuard,
  request: FastifyRequest,
  reply: FastifyReply,
  { person, workspaceId, role }: ConsoleClient,
  db: Db,
  onAudit: () => void,
): ConsoleContext & Partial<WorkspaceContext> {
  const address = addressOf(request.raw)
  const userAgent = request.headers['user-agent'] ?? null
  return {
    db,
    clock: deps.clock,
    requestId: request.id,
    address,
    userAgent,
    client: clientOf(request, person),
    ...(person ? { person, requireConfirmation: () => requireConfirmation(person, deps.clock) } : {}),
    ...(workspaceId !== null && role ? { workspaceId, role } : {}),
    cookie: (name) => cookies.read(request.headers.cookie, name),
    // Fastify appends Set-Cookie headers instead of replacing them.
    setCookie: (name, value) => void reply.header('Set-Cookie', cookies.write(name, value)),
    header(name) {
      const value = request.headers[name]
      return typeof value === 'string' ? value : undefined
    },
    setHeader: (name, value) => void reply.header(name, value),
    setStatus: (status) => void reply.code(status),
    async audit(action, within = db) {
      onAudit()
      const {
        by = person ?? { personId: null, email: 'unknown' },
        workspaceId: target = workspaceId,
        ...entry
      } = action
      const who = { personId: by.personId, name: by.email, address, userAgent }
      await deps.record(within, who, { ...entry, workspaceId: target })
    },
  }
}
