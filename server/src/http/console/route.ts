import type { Permission, Role } from '@parley/contract/console/permissions'
import type { Static, TSchema } from 'typebox'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Client } from '../../sharing/fair-queue.ts'
import type { Input } from '../route.ts'

export interface SignedIn {
  personId: string
  email: string
  name: string
  operator: boolean
  hasPassword: boolean
  twoFactor: boolean
  hasPasskey: boolean
  sessionId: string
  confirmedUntil: Date | null
}

/** An entry of the audit log. `before` and `after` have only the changed fields, and never a secret. */
export interface AuditedAction {
  /** `<noun>.<verb>`: key.create, webhook.disable, member.role */
  action: string
  target?: string | null
  targetName?: string | null
  before?: Readonly<Record<string, unknown>> | null
  after?: Readonly<Record<string, unknown>> | null
  /** The person, for routes without a session, such as signing in. */
  by?: { personId: string | null; email: string }
  /** The workspace, for routes that do not belong to one. */
  workspaceId?: string | null
}

/** What every handler of the console gets in addition to its input. */
export interface ConsoleContext {
  /**
   * In a workspace route: limited to that workspace. If the method is not GET, it is a transaction that is committed
   * when the handler returns. If the route `mayLag`, it may read from the replica.
   */
  db: Db
  clock: Clock
  requestId: string
  address: string
  userAgent: string | null
  /** Whose limits the request counts against. */
  client: Client
  cookie(name: CookieName): string | undefined
  /** Null deletes it. */
  setCookie(name: CookieName, value: string | null): void
  header(name: string): string | undefined
  setHeader(name: string, value: string): void
  /** The status of a stream, if it is not that of the route. */
  setStatus(status: number): void
  /**
   * Writes an audit entry; every route that changes something or is `audited` writes one. Pass `within` if the handler
   * has its own transaction.
   */
  audit(action: AuditedAction, within?: Db): Promise<void>
}

export interface SignedInContext extends ConsoleContext {
  person: SignedIn
  /**
   * Refuses unless the person confirmed their identity within the last ten minutes. For a route in which only some
   * changes need it; the others set `confirmed`.
   */
  requireConfirmation(): void
}

export interface WorkspaceContext extends SignedInContext {
  workspaceId: string
  role: Role
}

/**
 * `session`; `step`, which identifies the browser between the steps of signing in; `browser`, which others' failed sign-ins do
 * not lock out; `changed`, while the replica may lack what this browser has changed.
 */
export type CookieName = 'session' | 'step' | 'browser' | 'changed'

interface RouteBase {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /**
   * Relative to `/console/api`, for example `/sign-in`; in a workspace route relative to `/console/api/w/:workspace`.
   */
  path: string
  params?: TSchema
  query?: TSchema
  body?: TSchema
  /** Without one, the response is 204 and has no body. */
  reply?: TSchema
  status?: number
  /** Only for a person who confirmed their identity within the last ten minutes. */
  confirmed?: boolean
  /** A GET route that writes an audit entry, because it hands out data: an export or a download. */
  audited?: boolean
  /** A GET route for a list, an export or counts: it may be read from the replica, which is a few seconds behind at most. */
  mayLag?: boolean
  /** Why a route that is not GET, or that sends a file, writes no audit entry. */
  unaudited?: string
  /** The handler starts its own transactions, to keep a change even if it refuses, or because it calls WhatsApp. */
  ownTransactions?: boolean
}

export type ConsoleRoute = RouteBase & {
  /** `anyone`, `person` (signed in), `operator`, or the permission that the role in the workspace must have. */
  who: 'anyone' | 'person' | 'operator' | Permission
  handle(context: never, input: never): unknown
}

type Schema = TSchema | undefined

type Reply<R> = R extends TSchema ? Static<R> | Promise<Static<R>> : Promise<void>

/** Defines a route. The types of the handler's input and result come from the schemas. */
type DefineRoute<Context, Who> = <
  R extends Schema = undefined,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
>(
  row: Omit<RouteBase, 'params' | 'query' | 'body' | 'reply'> &
    Who & { params?: P; query?: Q; body?: B; reply?: R; handle(context: Context, input: Input<P, Q, B>): Reply<R> },
) => ConsoleRoute

/** A route that needs no session. */
export const openRoute: DefineRoute<ConsoleContext, unknown> = (row) =>
  ({ ...row, who: 'anyone' }) as unknown as ConsoleRoute

/** A route for everyone who is signed in. */
export const personRoute: DefineRoute<SignedInContext, unknown> = (row) =>
  ({ ...row, who: 'person' }) as unknown as ConsoleRoute

/** A route for operators. */
export const operatorRoute: DefineRoute<SignedInContext, unknown> = (row) =>
  ({ ...row, who: 'operator' }) as unknown as ConsoleRoute

/** A route for members of a workspace whose role has the permission. */
export const workspaceRoute: DefineRoute<WorkspaceContext, { who: Permission }> = (row) =>
  row as unknown as ConsoleRoute

export const isWorkspaceRoute = ({ who }: ConsoleRoute): boolean => who.includes(':')

export const fullPath = (route: ConsoleRoute): string =>
  `/console/api${isWorkspaceRoute(route) ? '/w/:workspace' : ''}${route.path}`
