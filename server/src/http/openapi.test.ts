import { errorCatalogue, errorCodes } from '@parley/contract/errors'
import { Validator } from '@seriousme/openapi-schema-validator'
import { beforeAll, expect, test } from 'vitest'
import { contractErrors } from '../../testing/expect-error.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { routes } from '../api.ts'

const server = useTestServer()

interface Operation {
  operationId: string
  description: string
  security: object[]
  responses: Record<string, { headers?: object; content?: Record<string, { schema: object }> }>
}
interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
  components: { schemas: Record<string, { properties: { error: { properties: { code: { enum: string[] } } } } }> }
}

let document: Document
beforeAll(async () => {
  document = (await server.call('/v1/openapi.json')).body as Document
})

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
  expect(document.openapi).toMatch(/^3\.1/)
})

test('every route is in the document, with its scope, response and errors', () => {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const expected = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  expect(documented.sort()).toEqual([...expected, 'GET /v1/openapi.json'].sort())
  for (const { method, path, scope, status } of routes) {
    const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] as Operation
    expect(operation.description, path).toContain(
      scope === 'none' ? 'Requires an API key' : `Requires the scope \`${scope}\``,
    )
    expect(operation.security).toEqual([{ key: [] }])
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([String(status), '401', '403', '429', '500', '503']),
    )
    for (const response of Object.values(operation.responses)) {
      expect(Object.keys(response.headers ?? {})).toContain('RateLimit-Remaining')
    }
  }
  expect(document.paths['/v1/openapi.json']?.get).toMatchObject({
    security: [],
    description: expect.stringContaining('Does not require an API key'),
  })
})

test('operation IDs are unique', () => {
  const operations = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap(Object.values)
  const names = operations.map(({ operationId }) => operationId)
  expect(new Set(names).size).toBe(names.length)
})

test('the events and the test event are the webhooks of the document', () => {
  expect(Object.keys(document.webhooks).sort()).toEqual([
    'contact.preference_changed',
    'conversation.control_changed',
    'credits.low',
    'flow.completed',
    'history.imported',
    'message.delivered',
    'message.echoed',
    'message.failed',
    'message.read',
    'message.received',
    'message.sent',
    'network.update',
    'sender.status_changed',
    'template.status_changed',
    'webhook.disabled',
    'webhook.test',
  ])
})

test('the error catalogue matches the contract, and every code is in the document and on the errors page', async () => {
  const statusAndType = Object.entries(errorCatalogue).map(([code, { status, type }]) => [code, [status, type]])
  expect(Object.fromEntries(statusAndType)).toEqual(contractErrors)
  expect(document.components.schemas.Error?.properties.error.properties.code.enum).toEqual(errorCodes)
  const page = await server.call('/docs/errors')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const read = textOf(String(page.body))
  for (const code of errorCodes) {
    expect(page.body).toContain(`id="${code}"`)
    const { title, message, cause, remedy } = errorCatalogue[code]
    for (const text of [title, message, cause, remedy]) expect(text.length, code).toBeGreaterThan(5)
    for (const text of [title, cause, remedy]) expect(read).toContain(text)
  }
})

/** What a reader sees of a page. */
function textOf(html: string): string {
  const characters: Record<string, string> = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  return html.replaceAll(/<[^>]*>/g, '').replaceAll(/&[#\w]+;/g, (entity) => characters[entity] ?? entity)
}
