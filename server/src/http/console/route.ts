import type { Permission, Role } from '@parley/contract/console/permissions'
import type { Static, TSchema } from 'typebox'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Input } from '../route.ts'

/** Who is signed in. */
export interface SignedIn {
  personId: string
  email: string
  name: string
  operator: boolean
  twoFactor: boolean
  sessionId: string
  confirmedUntil: Date | null
}

/** What a person did, for the record. Only what changed, and never a secret. */
export interface AuditedAction {
  /** `<noun>.<verb>`: key.create, webhook.disable, member.role */
  action: string
  target?: string | null
  targetName?: string | null
  before?: Readonly<Record<string, unknown>> | null
  after?: Readonly<Record<string, unknown>> | null
  /** Who did it, where that is only known in the end: whoever signs in. */
  by?: { personId: string | null; email: string }
  /** The workspace it concerns, where the route is not within one. */
  workspaceId?: string | null
}

/** What any handler of the console is given besides its input. */
export interface ConsoleContext {
  /**
   * Of a route within a workspace: sees that workspace and nothing else. Where something may change it is a transaction,
   * committed when the handler has returned.
   */
  db: Db
  clock: Clock
  requestId: string
  address: string
  userAgent: string | null
  cookie(name: CookieName): string | undefined
  /** Null takes it away. */
  setCookie(name: CookieName, value: string | null): void
  setHeader(name: string, value: string): void
  /** Puts on record what was done; a route that changes something does so once. One with its own transaction names it. */
  audit(action: AuditedAction, within?: Db): Promise<void>
}

export interface SignedInContext extends ConsoleContext {
  person: SignedIn
}

export interface WorkspaceContext extends SignedInContext {
  workspaceId: string
  role: Role
}

/** The session; and what a browser holds between the steps of signing in. */
export type CookieName = 'session' | 'step'

interface Row {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /console/api, as in `/sign-in`; of a route within a workspace below `/console/api/w/:workspace`. */
  path: string
  params?: TSchema
  query?: TSchema
  body?: TSchema
  reply: TSchema
  status?: number
  /** Only for a person who showed who they are within the last ten minutes. */
  confirmed?: boolean
  /** Why nothing is put on record, where a route that is not a GET changes nothing worth it. */
  unaudited?: string
  /** Begins transactions of its own: something has to be kept even if it refuses, or it waits for the network. */
  ownTransactions?: boolean
}

export type ConsoleRoute = Row & {
  /** `anyone`, `person` (signed in), `operator`, or what a role in the workspace has to allow. */
  who: 'anyone' | 'person' | 'operator' | Permission
  handle(context: never, input: never): unknown
}

type Handler<Context, R extends TSchema, P, Q, B> = (
  context: Context,
  input: Input<P, Q, B>,
) => Static<R> | Promise<Static<R>>

type Given<
  Context,
  R extends TSchema,
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
> = Omit<Row, 'params' | 'query' | 'body' | 'reply'> & {
  params?: P
  query?: Q
  body?: B
  reply: R
  handle: Handler<Context, R, P, Q, B>
}

/** A route that needs no session. */
export function openRoute<
  R extends TSchema,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(row: Given<ConsoleContext, R, P, Q, B>): ConsoleRoute {
  return { ...row, who: 'anyone' } as unknown as ConsoleRoute
}

/** A route for whoever is signed in, or for operators alone. */
export function personRoute<
  R extends TSchema,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(row: Given<SignedInContext, R, P, Q, B> & { who: 'person' | 'operator' }): ConsoleRoute {
  return row as unknown as ConsoleRoute
}

/** A route within a workspace, for those whose role has the permission. */
export function workspaceRoute<
  R extends TSchema,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(row: Given<WorkspaceContext, R, P, Q, B> & { who: Permission }): ConsoleRoute {
  return row as unknown as ConsoleRoute
}

export const isWorkspaceRoute = ({ who }: ConsoleRoute): boolean => who.includes(':')

export const fullPath = (route: ConsoleRoute): string =>
  `/console/api${isWorkspaceRoute(route) ? '/w/:workspace' : ''}${route.path}`
