import { ErrorReply } from '@parley/contract/error-reply'
import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import type { TSchema } from 'typebox'
import { bodyExamples, errorComponents, errorRefs, parameterExample } from './openapi-examples.ts'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

export interface ApiDescription {
  title: string
  version: string
  description: string
  publicUrl: string
  routes: readonly Route[]
  /** What each tag of the routes contains. */
  tags: Readonly<Record<string, string>>
  /** The schemas of webhook events, by type. */
  events: Readonly<Record<string, TSchema>>
}

/** Any route may return these. */
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

/** Builds the OpenAPI 3.1 document from the routes. A schema with an `$id` becomes a component. */
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
    tags: [...new Set(api.routes.map(({ tag }) => tag))].map((name) => ({ name, description: api.tags[name] })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `prl_live_…`. Create one in the console under Developers → API keys.',
        },
      },
      schemas: named,
      examples: errorComponents(paths),
    },
  }
}

function operationOf(route: Route, named: Json): Json {
  const codes: ErrorCode[] = [...(route.scope === 'public' ? publicErrors : commonErrors), ...route.errors]
  if (route.scope !== 'none' && route.scope !== 'public') codes.push('insufficient_scope')
  if (route.params) codes.push('not_found')
  if (route.body) codes.push('payload_too_large', 'unsupported_media_type', 'request_timeout')
  if (route.body && !route.receivesFile) codes.push('invalid_json')
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: [route.description, authorizationOf(route.scope)].filter(Boolean).join('\n\n'),
    tags: [route.tag],
    ...(route.scope === 'public' ? { security: [] } : { security: [{ key: [] }] }),
    parameters: [
      ...parametersOf('path', route.params, named),
      ...parametersOf('query', route.query, named),
      ...parametersOf('header', route.headers, named),
      ...(route.isBytes ? [rangeHeader] : []),
    ],
    ...(route.body
      ? {
          requestBody: {
            required: !route.isBodyOptional,
            content: { [bodyTypeOf(route)]: contentOf(route.body, named, route.bodyExamples) },
          },
        }
      : {}),
    responses: {
      ...(route.isBytes
        ? bytesResponses
        : {
            [route.status]: {
              description: 'Success.',
              headers: takesIdempotencyKey(route) ? { ...responseHeaders, ...replayHeader } : responseHeaders,
              ...(route.status !== 204 && { content: { 'application/json': contentOf(route.reply, named) } }),
            },
          }),
      ...(route.otherReply && {
        [route.otherReply.status]: {
          description: route.otherReply.description,
          headers: responseHeaders,
          content: { 'application/json': contentOf(route.otherReply.reply, named) },
        },
      }),
      ...errorResponses(codes, named),
    },
  }
}

const takesIdempotencyKey = ({ headers }: Route): boolean =>
  Object.hasOwn((headers as { properties?: object } | undefined)?.properties ?? {}, 'Idempotency-Key')

const bodyTypeOf = ({ receivesFile }: Route) => (receivesFile ? 'multipart/form-data' : 'application/json')

function authorizationOf(scope: Route['scope']): string {
  if (scope === 'public') return 'Does not require an API key.'
  return scope === 'none' ? 'Requires an API key. No scope is needed.' : `Requires the scope \`${scope}\`.`
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
          description: list.map((code) => `\`${code}\`: ${errorCatalogue[code].cause}`).join('\n\n'),
          headers: status === 429 || status === 503 ? { ...responseHeaders, ...retryHeader } : responseHeaders,
          content: { 'application/json': { schema: withRefs(ErrorReply, named), examples: errorRefs(list) } },
        },
      ]),
  )
}

/** A body: its schema, and its examples next to it, where tools look for them. */
function contentOf(schema: TSchema, named: Json, examples?: Route['bodyExamples']): Json {
  const { examples: _, ...shape } = withRefs(schema, named) as Json
  return { schema: shape, examples: bodyExamples(schema, examples) }
}

const integerHeader = (description: string, example: number) => ({ description, schema: { type: 'integer' }, example })

const textHeader = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

const responseHeaders = {
  'X-Request-Id': textHeader(
    'The ID of the request. You find it in the request log.',
    'req_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
  ),
  'RateLimit-Limit': integerHeader('The rate limit, in requests per minute.', 30),
  'RateLimit-Remaining': integerHeader('The number of requests left in the current window.', 29),
  'RateLimit-Reset': integerHeader('The number of seconds until the window resets.', 60),
}

const retryHeader = { 'Retry-After': integerHeader('The number of seconds to wait before you retry.', 12) }
const replayHeader = {
  'Idempotent-Replayed': textHeader('`true` if this is the response of an earlier request. Absent otherwise.', 'true'),
}

const rangeHeader = {
  name: 'Range',
  in: 'header',
  required: false,
  ...textHeader(
    'A single byte range, such as `bytes=0-1023`. A request for several ranges returns the whole file.',
    'bytes=0-1023',
  ),
}

const bytesHeaders = {
  ...responseHeaders,
  'Content-Length': integerHeader('The number of bytes in the body.', 1024),
  'Content-Disposition': textHeader('`attachment`, with the original file name.', 'attachment; filename="invoice.pdf"'),
  ETag: textHeader('Send it as `If-Range` to resume an interrupted download.', '"72fd8a73"'),
}
const bytesContent = {
  'application/octet-stream': {
    schema: { type: 'string', format: 'binary' },
    examples: { example: { value: 'The bytes of the file.' } },
  },
}

const bytesResponses = {
  200: { description: 'The file, with its own media type.', headers: bytesHeaders, content: bytesContent },
  206: {
    description: 'The requested range.',
    headers: {
      ...bytesHeaders,
      'Content-Range': textHeader('The range and the size of the file.', 'bytes 0-1023/15872'),
    },
    content: bytesContent,
  },
}

function deliveryOf(type: string, schema: TSchema, named: Json): Json {
  const header = (name: string, description: string, example: string, required = true) => ({
    name,
    in: 'header',
    required,
    ...textHeader(description, example),
  })
  return {
    operationId: type.replace('.', '_'),
    summary: type,
    description: (schema as { description?: string }).description,
    tags: ['Events'],
    security: [],
    parameters: [
      header(
        'Service-Signature',
        'The signature: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">`. Two `v1` during a staged rotation of the secret; one of them has to match.',
        't=1794735000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
      ),
      header('Service-Event', 'The event type.', type),
      header(
        'Service-Delivery',
        'The event ID. It is the same on every attempt.',
        '2f1e0d9c-8b7a-4695-8473-625140fedcba',
      ),
      header(
        'Service-Replay',
        'The ID of the replay that sends the event, if one does.',
        'rpl_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
        false,
      ),
    ],
    requestBody: { required: true, content: { 'application/json': contentOf(schema, named) } },
    responses: {
      '2XX': {
        description: 'The event was received. Any other status, or no response within 10 seconds, causes a retry.',
      },
    },
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
      schema: withRefs(property, named),
      example: parameterExample(property),
    }
  })
}

/** Made from the method and the path: `getMe`, `postMessages`. */
function operationId({ method, path }: Route): string {
  const segments = path.split('/').slice(2)
  const name = segments
    .map((segment) => (segment.startsWith(':') ? `by_${segment.slice(1)}` : segment.replace(/\..*$/, '')))
    .join('_')
    .replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return method.toLowerCase() + (name[0] ?? '').toUpperCase() + name.slice(1)
}

/** A copy of the schema with a `$ref` for each part that has an `$id`. Adds those parts to `named`. */
function withRefs(schema: unknown, named: Json): unknown {
  if (Array.isArray(schema)) return schema.map((each) => withRefs(each, named))
  if (schema === null || typeof schema !== 'object') return schema
  // `errorMessage` is only for the server's own validator.
  const { $id, errorMessage: _, ...rest } = schema as { $id?: string; errorMessage?: string }
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withRefs(value, named)]))
  if ($id === undefined) return copy
  named[$id] = copy
  return { $ref: `#/components/schemas/${$id}` }
}
