import { type ErrorCode, ErrorReply, errorCatalogue } from '@parley/contract/errors'
import type { TSchema } from 'typebox'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

export interface ApiDescription {
  title: string
  version: string
  description: string
  publicUrl: string
  routes: readonly Route[]
  /** The events a receiver is sent, by type. */
  events: Readonly<Record<string, TSchema>>
}

/** Any route may answer with these. */
const commonErrors: readonly ErrorCode[] = [
  'invalid_key',
  'key_revoked',
  'key_expired',
  'workspace_suspended',
  'ip_not_allowed',
  'rate_limited',
  'validation_failed',
  'method_not_allowed',
  'internal_error',
  'service_unavailable',
]

/** The OpenAPI 3.1 document, made from the table of routes. Schemas with a name (`$id`) stand in it once. */
export function openApiOf(api: ApiDescription): Json {
  const named: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of api.routes) {
    const path = route.path.replaceAll(/:([a-z_]+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = operationOf(route, named)
  }
  const webhooks = Object.fromEntries(
    Object.entries(api.events).map(([type, schema]) => [type, { post: deliveryOf(type, schema, named) }]),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: api.version,
      description: api.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: api.publicUrl }],
    security: [{ key: [] }],
    tags: [...new Set(api.routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    webhooks,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key: `prl_live_…`.' } },
      schemas: named,
    },
  }
}

function operationOf(route: Route, named: Json): Json {
  const codes: ErrorCode[] = [...(route.scope === 'public' ? publicErrors : commonErrors), ...route.errors]
  if (route.scope !== 'none' && route.scope !== 'public') codes.push('insufficient_scope')
  if (route.params) codes.push('not_found')
  if (route.body) codes.push('invalid_json', 'payload_too_large', 'unsupported_media_type', 'request_timeout')
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: [route.description, needs(route.scope)].filter(Boolean).join('\n\n'),
    tags: [route.tag],
    ...(route.scope === 'public' ? { security: [] } : { security: [{ key: [] }] }),
    parameters: [
      ...parametersOf('path', route.params, named),
      ...parametersOf('query', route.query, named),
      ...parametersOf('header', route.headers, named),
      ...(route.isBytes ? [rangeHeader] : []),
    ],
    ...(route.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: refer(route.body, named) } } } }
      : {}),
    responses: {
      ...(route.isBytes
        ? bytesResponses
        : {
            [route.status]: {
              description: 'Done.',
              headers: answerHeaders,
              content: { 'application/json': { schema: refer(route.reply, named) } },
            },
          }),
      ...errorResponses(codes, named),
    },
  }
}

function needs(scope: Route['scope']): string {
  if (scope === 'public') return 'Needs no key.'
  return scope === 'none' ? 'Needs a key, with any scopes.' : `Needs the scope \`${scope}\`.`
}

const publicErrors: readonly ErrorCode[] = [
  'rate_limited',
  'validation_failed',
  'internal_error',
  'service_unavailable',
]

function errorResponses(codes: readonly ErrorCode[], named: Json): Json {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorCatalogue[code].status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([left], [right]) => left - right)
      .map(([status, list]) => [
        status,
        {
          description: list.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join('\n\n'),
          headers: answerHeaders,
          content: { 'application/json': { schema: refer(ErrorReply, named) } },
        },
      ]),
  )
}

const integerHeader = (description: string) => ({ description, schema: { type: 'integer' } })

const answerHeaders = {
  'X-Request-Id': { description: 'Names this request in the log.', schema: { type: 'string' } },
  'RateLimit-Limit': integerHeader('The budget of requests a minute.'),
  'RateLimit-Remaining': integerHeader('What is left of it in this window.'),
  'RateLimit-Reset': integerHeader('Seconds until the window rolls over.'),
}

const rangeHeader = {
  name: 'Range',
  in: 'header',
  required: false,
  description: 'One range of bytes, such as `bytes=0-1023`; several are answered with the whole.',
  schema: { type: 'string' },
}

const textHeader = (description: string) => ({ description, schema: { type: 'string' } })

const bytesHeaders = {
  ...answerHeaders,
  'Content-Length': integerHeader('How many bytes follow.'),
  'Content-Disposition': textHeader('`attachment`, with the name as it was uploaded.'),
  ETag: textHeader('For `If-Range`, to go on where an earlier answer broke off.'),
}
const bytesContent = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }

const bytesResponses = {
  200: { description: 'The whole, under its own media type.', headers: bytesHeaders, content: bytesContent },
  206: {
    description: 'The range that was asked for.',
    headers: { ...bytesHeaders, 'Content-Range': textHeader('Which bytes of how many.') },
    content: bytesContent,
  },
}

function deliveryOf(type: string, schema: TSchema, named: Json): Json {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })
  return {
    operationId: type.replace('.', '_'),
    summary: type,
    tags: ['Events'],
    security: [],
    parameters: [
      header('Service-Signature', '`t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">`'),
      header('Service-Event', 'The event type.'),
      header('Service-Delivery', 'The event id; the same on every attempt.'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: refer(schema, named) } } },
    responses: { '2XX': { description: 'Received. Anything else, or nothing within ten seconds, is tried again.' } },
  }
}

function parametersOf(place: 'path' | 'query' | 'header', schema: TSchema | undefined, named: Json): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description } = property as { description?: string }
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description ? { description } : {}),
      schema: refer(property, named),
    }
  })
}

/** `listWebhook`, `getMe`, `sendMessages`: from the method and the path. */
function operationId({ method, path }: Route): string {
  const words = path.split('/').slice(2)
  const name = words
    .map((word) => (word.startsWith(':') ? `by_${word.slice(1)}` : word.replace(/\..*$/, '')))
    .join('_')
    .replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return method.toLowerCase() + (name[0] ?? '').toUpperCase() + name.slice(1)
}

/** A copy of a schema in which each named part is a reference, and the part itself stands among the named ones. */
function refer(schema: unknown, named: Json): unknown {
  if (Array.isArray(schema)) return schema.map((each) => refer(each, named))
  if (schema === null || typeof schema !== 'object') return schema
  // `errorMessage` is for the service's own validator.
  const { $id, errorMessage: _, ...rest } = schema as { $id?: string; errorMessage?: string }
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, refer(value, named)]))
  if ($id === undefined) return copy
  named[$id] = copy
  return { $ref: `#/components/schemas/${$id}` }
}
