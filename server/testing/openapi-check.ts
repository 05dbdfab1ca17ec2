import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { ApiResponse } from './call.ts'

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
}

const standing = ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'cache-control']

/** Holds every answer under /v1 against the OpenAPI document that the service itself gives out. */
export async function openApiCheck(
  url: string,
): Promise<(method: string, path: string, response: ApiResponse) => void> {
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema(document, 'api')

  return (method, path, { status, headers, body }) => {
    for (const name of standing) expect(headers.get(name), `${name} on ${method} ${path}`).not.toBeNull()
    if (body === '') return
    const pointer = status >= 400 ? '#/components/schemas/Error' : pointerTo(document, method, path, status)
    const validate = ajv.getSchema(`api${pointer}`)
    if (!validate) throw new Error(`the OpenAPI document has no ${pointer}`)
    validate(body)
    expect(validate.errors ?? [], `${method} ${path} answered ${status} against its description`).toEqual([])
    if (status >= 400) expect(described(document, method, path, status), `${status} of ${method} ${path}`).toBe(true)
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

/** A status that an operation may give has to be in its description; a path or method that is none has no description. */
function described(document: Document, method: string, path: string, status: number): boolean {
  const operation = document.paths[patternOf(document, path) ?? '']?.[method.toLowerCase()]
  return operation === undefined || String(status) in operation.responses
}

function patternOf(document: Document, path: string): string | undefined {
  const given = (path.split('?')[0] as string).split('/')
  return Object.keys(document.paths).find((pattern) => {
    const wanted = pattern.split('/')
    return (
      wanted.length === given.length && wanted.every((part, index) => part.startsWith('{') || part === given[index])
    )
  })
}
