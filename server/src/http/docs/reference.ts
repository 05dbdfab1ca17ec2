import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import { fieldErrors } from '@parley/contract/field-errors'
import { clientTabs, type ExampleRequest, requestTabs } from './api-examples.ts'
import { type ApiPage, apiPages } from './catalogue.ts'
import { type FieldsOptions, fieldItem, fieldList, type Schema } from './fields.ts'
import { indent, jsonBlock, plain, slugOf } from './markdown.ts'

interface Content {
  schema: Schema
  examples?: Record<string, { value?: unknown }>
}

interface Response {
  description: string
  headers: Record<string, { description: string; schema: Schema }>
  content?: Record<string, Content>
}

interface Operation {
  tags: string[]
  summary: string
  description: string
  security: object[]
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Schema; example: unknown }[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, Response>
}

/** The parts of the OpenAPI document that the pages show. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: { description: string; requestBody: { content: Record<string, Content> } } }>
  components: { schemas: Record<string, Schema> }
}

interface Endpoint extends Operation {
  method: string
  path: string
  page: string
  errors: ErrorCode[]
}

export interface Reference {
  /** What all endpoints have in common, and a list of them. */
  overview(): string
  /** The endpoints of a page, and the objects that they return. */
  page(page: ApiPage): string
  events(): string
  /** The address of an endpoint, an error or an event type that is named in code. */
  linkOf(code: string): string | undefined
}

/** The API reference in Markdown, from the OpenAPI document. */
export function newReference({ paths, webhooks, components }: OpenApi, publicUrl: string): Reference {
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Endpoint => {
      const page = apiPages.find(({ label }) => operation.tags.includes(label))?.name ?? 'api'
      return { ...operation, method: method.toUpperCase(), path, page, errors: errorsOf(operation) }
    }),
  )
  const withKey = endpoints.filter(({ security }) => security.length > 0)
  const commonErrors = (withKey[0]?.errors ?? []).filter((code) => withKey.every(({ errors }) => errors.includes(code)))
  const commonHeaders = withKey[0]?.responses[200]?.headers ?? {}

  /** The page of an object is that of the first endpoint that takes or returns it. */
  const pageOf: Record<string, string> = { Error: 'api' }
  for (const { page, requestBody, responses } of endpoints)
    for (const name of componentsIn([requestBody, responses])) pageOf[name] ??= page
  const linkTo = (name: string) => `[${name}](/docs/${pageOf[name]}#${slugOf(objectTitle(name))})`
  const input: FieldsOptions = { linkTo, isInput: true }
  const output: FieldsOptions = { linkTo, isInput: false }

  const objectOf = (name: string): string => {
    const { [name]: schema = {} } = components.schemas
    const examples = (schema.examples ?? []).slice(0, 1).map(jsonBlock)
    return [`## ${objectTitle(name)}`, fieldList(schema, output), ...examples].join('\n\n')
  }

  const endpointOf = (endpoint: Endpoint): string =>
    [
      `## ${endpoint.summary}`,
      `\`\`\`http\n${endpoint.method} ${endpoint.path}\n\`\`\``,
      endpoint.description,
      requestTabs(requestOf(endpoint), publicUrl),
      ...parametersOf(endpoint),
      ...bodyOf(endpoint),
      '### Response',
      ...successesOf(endpoint).map(([status, response]) => responseOf(status, response)),
      '### Errors',
      'The [errors of every endpoint](/docs/api#errors).',
      errorList(endpoint.errors.filter((code) => !commonErrors.includes(code))),
    ].join('\n\n')

  const parametersOf = ({ parameters }: Endpoint): string[] =>
    Object.entries({ path: 'Path parameters', query: 'Query parameters', header: 'Headers' }).flatMap(
      ([place, title]) => {
        const items = parameters.flatMap(({ name, in: where, schema, required, description = '', example }) => {
          const field = { ...schema, description, ...(schema.default === undefined && { examples: [example] }) }
          return where === place ? [fieldItem(name, field, required, input)] : []
        })
        return items.length > 0 ? [`### ${title}`, items.join('\n')] : []
      },
    )

  const bodyOf = ({ requestBody }: Endpoint): string[] =>
    Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema, examples = {} }]) => {
      const named = Object.entries(examples).map(([name, { value }]) => folded(`Example: \`${name}\``, value))
      const items = [fieldList(schema, input), ...(named.length > 1 ? named : [])]
      return ['### Body', `\`${type}\``, items.join('\n')]
    })

  function responseOf(status: string, { description, headers, content = {} }: Response): string {
    const special = Object.entries(headers).filter(([name]) => !Object.hasOwn(commonHeaders, name))
    const [[type, body] = []] = Object.entries(content)
    if (type === 'application/octet-stream') return `\`${status}\` ${description}\n\n${headerList(special)}`
    if (!body) return `\`${status}\` without a body`
    const shown = folded('Example response', Object.values(body.examples ?? {})[0]?.value)
    const example = [headerList(special), shown].join('\n').trim()
    const { $ref } = body.schema
    if ($ref !== undefined) return `\`${status}\` with a ${linkTo(componentIn($ref))}\n\n${example}`
    return `\`${status}\`\n\n${[fieldList(body.schema, output), example].join('\n').trim()}`
  }

  const named = new Map([
    ...endpoints.map(
      ({ method, path, page, summary }) =>
        [withoutNames(`${method} ${path}`), `/docs/${page}#${slugOf(summary)}`] as const,
    ),
    ...Object.keys(webhooks).map((type) => [type, `/docs/events/types#${slugOf(type)}`] as const),
    // Some codes are also those of a field.
    ...Object.keys(errorCatalogue).flatMap((code) =>
      Object.hasOwn(fieldErrors, code) ? [] : [[code, `/docs/errors#${code}`] as const],
    ),
  ])

  return {
    linkOf: (code) => named.get(withoutNames(code)),
    overview: () =>
      overviewOf({
        publicUrl,
        rows: endpoints.map(({ method, path, page, summary, description }) => {
          const scope = /scope (`[\w:]+`)/.exec(description)?.[1] ?? ''
          return `| [\`${method} ${path}\`](/docs/${page}#${slugOf(summary)}) | ${summary} | ${scope} |`
        }),
        headers: headerList(Object.entries(commonHeaders)),
        errors: errorList(commonErrors),
        errorObject: objectOf('Error'),
      }),
    page: ({ name, title, summary }) =>
      [
        `# ${title}\n\n${summary} What all endpoints have in common is in the [overview](/docs/api).`,
        ...endpoints.filter(({ page }) => page === name).map(endpointOf),
        ...Object.keys(components.schemas)
          .filter((component) => pageOf[component] === name)
          .map(objectOf),
      ].join('\n\n'),
    events() {
      const sections = Object.entries(webhooks).map(([type, { post }]) => {
        const [body] = Object.values(post.requestBody.content)
        const data = fieldList(body?.schema.properties?.data ?? {}, output)
        const example = Object.values(body?.examples ?? {})[0]?.value
        return `## ${type}\n\n${post.description}\n\n### Fields of \`data\`\n\n${data}\n\n${jsonBlock(example)}`
      })
      return `# Event types

Webhooks deliver these events, and \`GET /v1/events\` returns them. Each has \`id\`, \`type\`, \`created_at\` and \`data\`. The header \`Service-Event\` of a delivery has the type. Fields and types may be added: ignore unknown ones. See [receiving](/docs/events/webhooks) and [reading events](/docs/events/polling).

${sections.join('\n\n')}
`
    },
  }
}

/** `GET /v1/messages/{id}?a=b` and `GET /v1/messages/{message_id}` are one endpoint. */
const withoutNames = (code: string): string => code.replace(/\?.*$/, '').replaceAll(/\{\w+\}/g, '{}')

const objectTitle = (component: string): string => `The ${component} object`

const componentIn = (ref: string): string => ref.split('/').at(-1) ?? ''

const componentsIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)

const successesOf = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => Number(status) < 400)

/** The codes are the names of the examples. */
const errorsOf = ({ responses }: Operation): ErrorCode[] =>
  Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Number(status) < 400 ? [] : (Object.keys(content['application/json']?.examples ?? {}) as ErrorCode[]),
  )

const errorList = (codes: readonly ErrorCode[]): string =>
  codes
    .map(
      (code) =>
        `- [\`${code}\`](/docs/errors#${code}) *${errorCatalogue[code].status}*  \n  ${plain(errorCatalogue[code].cause)}`,
    )
    .join('\n')

const headerList = (headers: [string, { description: string; schema: Schema }][]): string =>
  headers.map(([name, { description, schema }]) => `- **\`${name}\`** *${schema.type}*  \n  ${description}`).join('\n')

const folded = (title: string, value: unknown): string => `- ${title}\n${indent(jsonBlock(value))}`

function requestOf({ method, path, parameters, requestBody, responses, security }: Endpoint): ExampleRequest {
  const values = new Map(parameters.map(({ name, example }) => [name, String(example)]))
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const key = values.get('Idempotency-Key')
  return {
    method,
    route: path,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? ''),
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
    body: Object.values(content?.examples ?? {})[0]?.value,
    isFile: type === 'multipart/form-data',
    isDownload: responses[206] !== undefined,
    isPublic: security.length === 0,
  }
}

interface OverviewParts {
  publicUrl: string
  rows: readonly string[]
  headers: string
  errors: string
  errorObject: string
}

const overviewOf = ({ publicUrl, rows, headers, errors, errorObject }: OverviewParts): string => `# API reference

The base URL is \`${publicUrl}\`. Bodies and responses are JSON, times are ISO 8601 in UTC. Fields may be added: ignore unknown ones. The [OpenAPI document](${publicUrl}/v1/openapi.json) describes the same API for programs.

## Endpoints

| endpoint | | scope |
| --- | --- | --- |
${rows.join('\n')}

## Authentication

Send an API key with every request: \`Authorization: Bearer prl_live_…\`. See [authentication and scopes](/docs/api/authentication) and [rate limits](/docs/api/rate-limits).

${clientTabs(publicUrl)}

The examples of the other pages use this client. The SDKs for [TypeScript](/docs/tools/typescript) and [Python](/docs/tools/python) come with Parley. Lists have [pages](/docs/api/pagination), and sends can be [repeated safely](/docs/api/idempotency).

## Response headers

${headers}

## Errors

Every failed request returns an [error](#the-error-object). [Errors](/docs/errors) has all codes, and says which requests to repeat. Every endpoint can return these:

${errors}

${errorObject}
`
