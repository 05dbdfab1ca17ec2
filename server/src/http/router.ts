import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { TSchema } from 'typebox'
import { Refusal } from '../lib/refuse.ts'
import type { Route } from './route.ts'
import { toJsonFor } from './to-json.ts'
import { type Check, checkFor } from './validate.ts'

/** A route with its schemas compiled. */
export interface CompiledRoute extends Pick<Route, 'path' | 'scope' | 'status' | 'handle'> {
  isBytes: boolean
  isWritten: boolean
  isForOwnOrigin: boolean
  receivesFile: boolean
  isBodyOptional: boolean
  checks: { params: Check | undefined; query: Check; body: Check | undefined }
  toJson(response: unknown): string
}

export interface RouteMatch {
  route: CompiledRoute
  params: unknown
  query: unknown
}

export interface Router {
  find(method: string, url: string): RouteMatch | null
  /** The pattern of the path, for any method; null if there is no such path. */
  patternOf(url: string): string | null
  /** The error for a request that matches no route: 404, or 405 if the path exists for other methods. */
  unmatched(url: string): Refusal
}

/** The router of /v1. It uses find-my-way, Fastify's router. */
export function newRouter(routes: readonly Route[]): Router {
  const tree = findMyWay({ maxParamLength: 1000 })
  const allowed = methodsByPath(routes)
  const mount = (method: HTTPMethod, route: CompiledRoute) => tree.on(method, route.path, noHandler, route)
  for (const route of routes) {
    const compiled = compileRoute(route)
    mount(route.method, compiled)
    if (route.method === 'GET') mount('HEAD', compiled)
  }
  for (const [path, methods] of allowed) {
    const isPublic = routes.some((route) => route.path === path && route.scope === 'public')
    mount('OPTIONS', optionsRoute(path, isPublic ? 'public' : 'none', methods))
  }
  const patternOf = (url: string) => {
    const path = url.split('?', 1)[0] as string
    return [...allowed.keys()].find((pattern) => matches(pattern, path)) ?? null
  }
  return {
    patternOf,
    find(method, url) {
      const found = tree.find(method as HTTPMethod, url)
      return found && { route: found.store as CompiledRoute, params: found.params, query: found.searchParams }
    },
    unmatched(url) {
      const methods = allowed.get(patternOf(url) ?? '')
      return methods ? new Refusal('method_not_allowed', { headers: { Allow: methods } }) : new Refusal('not_found')
    },
  }
}

/** find-my-way requires a handler. We only use it for the lookup and call our own handlers. */
const noHandler = () => {}

const noParameters = { type: 'object', additionalProperties: false, properties: {} }
const checkNoParameters = checkFor('query', noParameters as TSchema)

export function compileRoute(route: Route): CompiledRoute {
  const { path, scope, status, handle, isBytes = false, isWritten = false, receivesFile = false } = route
  return {
    path,
    scope,
    status,
    handle,
    isBytes,
    isWritten,
    isForOwnOrigin: route.isForOwnOrigin ?? false,
    receivesFile,
    isBodyOptional: route.isBodyOptional ?? false,
    checks: {
      params: route.params && checkFor('params', route.params),
      query: route.query ? checkFor('query', route.query) : checkNoParameters,
      body: route.checksBody ? undefined : route.body && checkOfBody(route.body, route.isBodyOptional),
    },
    // The handler of the route returns what its own function takes.
    toJson: isBytes ? String : ((route.toJson as CompiledRoute['toJson'] | undefined) ?? toJsonFor(route.reply)),
  }
}

function checkOfBody(schema: TSchema, isOptional = false): Check {
  const check = checkFor('body', schema)
  return isOptional ? (value) => value === undefined || check(value) : check
}

function optionsRoute(path: string, scope: 'public' | 'none', methods: string): CompiledRoute {
  return {
    path,
    scope,
    status: 204,
    handle: (context) => context.setHeader('Allow', methods),
    isBytes: false,
    isWritten: false,
    isForOwnOrigin: false,
    receivesFile: false,
    isBodyOptional: false,
    checks: { params: undefined, query: () => {}, body: undefined },
    toJson: String,
  }
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const given = path.split('/')
  return (
    expected.length === given.length &&
    expected.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  )
}

function methodsByPath(routes: readonly Route[]): Map<string, string> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of routes) {
    const set = methods.get(path) ?? new Set()
    set.add(method)
    if (method === 'GET') set.add('HEAD')
    methods.set(path, set)
  }
  return new Map([...methods].map(([path, set]) => [path, [...set, 'OPTIONS'].join(', ')]))
}
