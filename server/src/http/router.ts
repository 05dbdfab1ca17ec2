import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { TSchema } from 'typebox'
import { Refusal } from '../lib/refuse.ts'
import type { Route } from './route.ts'
import { toJsonFor } from './to-json.ts'
import { type Check, checkFor } from './validate.ts'

/** A row of the table of contents, with its schemas compiled. */
export interface Row extends Pick<Route, 'path' | 'scope' | 'status' | 'handle'> {
  isBytes: boolean
  checks: { params: Check | undefined; query: Check; body: Check | undefined }
  toJson(response: unknown): string
}

export interface Found {
  row: Row
  params: unknown
  query: unknown
}

export interface Table {
  find(method: string, url: string): Found | null
  /** Why nothing was found: the path is none, or it does not take this method. */
  missing(url: string): Refusal
}

/** The routes under /v1, found as Fastify finds its own: with its router. */
export function newTable(routes: readonly Route[]): Table {
  const router = findMyWay({ maxParamLength: 1000 })
  const allowed = methodsByPath(routes)
  const mount = (method: HTTPMethod, row: Row) => router.on(method, row.path, noHandler, row)
  for (const route of routes) {
    const row = toRow(route)
    mount(route.method, row)
    if (route.method === 'GET') mount('HEAD', row)
  }
  for (const [path, methods] of allowed) {
    const isPublic = routes.some((route) => route.path === path && route.scope === 'public')
    mount('OPTIONS', optionsRow(path, isPublic ? 'public' : 'none', methods))
  }
  return {
    find(method, url) {
      const found = router.find(method as HTTPMethod, url)
      return found && { row: found.store as Row, params: found.params, query: found.searchParams }
    },
    missing(url) {
      const path = url.split('?', 1)[0] as string
      const methods = [...allowed].find(([pattern]) => matches(pattern, path))?.[1]
      return methods ? new Refusal('method_not_allowed', { headers: { Allow: methods } }) : new Refusal('not_found')
    },
  }
}

/** The router insists on one; we ask it where a request leads, and go there ourselves. */
const noHandler = () => {}

const noParameters = { type: 'object', additionalProperties: false, properties: {} }
const checkNoParameters = checkFor('query', noParameters as TSchema)

function toRow(route: Route): Row {
  const { path, scope, status, handle, isBytes = false } = route
  return {
    path,
    scope,
    status,
    handle,
    isBytes,
    checks: {
      params: route.params && checkFor('params', route.params),
      query: route.query ? checkFor('query', route.query) : checkNoParameters,
      body: route.checksBody ? undefined : route.body && checkFor('body', route.body),
    },
    toJson: isBytes ? String : toJsonFor(route.reply),
  }
}

function optionsRow(path: string, scope: 'public' | 'none', methods: string): Row {
  return {
    path,
    scope,
    status: 204,
    handle: (context) => context.setHeader('Allow', methods),
    isBytes: false,
    checks: { params: undefined, query: () => {}, body: undefined },
    toJson: String,
  }
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
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
