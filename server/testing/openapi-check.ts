import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { describe, routes } from '../src/api.ts'
import type { Route } from '../src/http/route.ts'
import type { ApiResponse } from './call.ts'

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
}

const requiredHeaders = ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'cache-control']

type ResponseCheck = (method: string, path: string, response: ApiResponse) => void

const checks = new Map<readonly Route[], ResponseCheck>()

/** A function that checks a /v1 response against the OpenAPI document. A worker creates it once for the same routes. */
export function openApiCheck(moreRoutes: readonly Route[] = noRoutes): ResponseCheck {
  const check = checks.get(moreRoutes) ?? newCheck([...routes, ...moreRoutes])
  checks.set(moreRoutes, check)
  return check
}

const noRoutes: readonly Route[] = []

function newCheck(described: readonly Route[]): ResponseCheck {
  const document = JSON.parse(JSON.stringify(describe('http://parley.test', described).document())) as Document
  // openapi.test.ts validates the document, and what the service serves.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  ajv.addSchema(document, 'api')

  return (method, path, { status, headers, body }) => {
    for (const name of requiredHeaders) expect(headers.get(name), `${name} on ${method} ${path}`).not.toBeNull()
    if (body === '') return
    const pointer = status >= 400 ? '#/components/schemas/Error' : pointerTo(document, method, path, status)
    const validate = ajv.getSchema(`api${pointer}`)
    if (!validate) throw new Error(`the OpenAPI document has no ${pointer}`)
    validate(body)
    expect(validate.errors ?? [], `${status} response of ${method} ${path} against its schema`).toEqual([])
    if (status >= 400) expect(isDocumented(document, method, path, status), `${status} of ${method} ${path}`).toBe(true)
  }
}

function pointerTo(document: Document, method: string, path: string, status: number): string {
  const pattern = patternOf(document, path)
  const steps = [
    'paths',
    pattern ?? path,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ]
  return `#/${steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
}

/** Whether the document lists this status for the operation. Unknown paths and methods are not in the document. */
function isDocumented(document: Document, method: string, path: string, status: number): boolean {
  const operation = document.paths[patternOf(document, path) ?? '']?.[method.toLowerCase()]
  return operation === undefined || String(status) in operation.responses
}

function patternOf(document: Document, path: string): string | undefined {
  const parts = (path.split('?')[0] as string).split('/')
  return Object.keys(document.paths).find((pattern) => {
    const expected = pattern.split('/')
    return (
      expected.length === parts.length && expected.every((part, index) => part.startsWith('{') || part === parts[index])
    )
  })
}
