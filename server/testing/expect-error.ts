import type { ErrorCode } from '@parley/contract/errors'
import { expect } from 'vitest'

/**
 * The status and type of each code in the public contract. Separate from the list that the service uses, to check it.
 */
export const contractErrors: Readonly<Record<ErrorCode, readonly [status: number, type: string]>> = {
  invalid_key: [401, 'authentication_error'],
  key_revoked: [401, 'authentication_error'],
  key_expired: [401, 'authentication_error'],
  workspace_suspended: [403, 'permission_error'],
  ip_not_allowed: [403, 'permission_error'],
  origin_not_allowed: [403, 'permission_error'],
  insufficient_scope: [403, 'permission_error'],
  rate_limited: [429, 'rate_limit_error'],
  validation_failed: [400, 'invalid_request_error'],
  invalid_json: [400, 'invalid_request_error'],
  insufficient_credits: [402, 'billing_error'],
  recipient_opted_out: [400, 'invalid_request_error'],
  not_found: [404, 'invalid_request_error'],
  method_not_allowed: [405, 'invalid_request_error'],
  request_timeout: [408, 'invalid_request_error'],
  idempotency_in_progress: [409, 'idempotency_error'],
  file_expired: [410, 'invalid_request_error'],
  cursor_expired: [410, 'invalid_request_error'],
  payload_too_large: [413, 'invalid_request_error'],
  unsupported_media_type: [415, 'invalid_request_error'],
  range_not_satisfiable: [416, 'invalid_request_error'],
  idempotency_key_reused: [422, 'idempotency_error'],
  internal_error: [500, 'api_error'],
  service_unavailable: [503, 'api_error'],
}

export interface ExpectedError {
  code: ErrorCode
  message?: string
  param?: string
  errors?: object[]
  details?: object
  /** Headers in addition to the common ones. Special headers that are not listed must be absent. */
  headers?: Partial<Record<(typeof special)[number], string>>
}

const special = ['www-authenticate', 'retry-after', 'allow'] as const

interface TestResponse {
  status: number
  headers: { get(name: string): string | null }
  body: unknown
}

/** Checks every field and header of an error response against the contract. */
export function expectRefusal(response: TestResponse, expected: ExpectedError): void {
  const { code, message = expect.any(String), headers = {}, ...parts } = expected
  const [status, type] = contractErrors[code]
  const { headers: responseHeaders } = response
  expect(response.body).toEqual({
    error: {
      type,
      code,
      message,
      request_id: responseHeaders.get('x-request-id'),
      doc_url: `http://parley.test/docs/errors#${code}`,
      ...parts,
    },
  })
  expect(response.status).toBe(status)
  expectCommonHeaders(response)
  expect(responseHeaders.get('content-type')).toBe('application/json; charset=utf-8')
  for (const name of special) {
    const value =
      code === 'rate_limited' && name === 'retry-after' ? responseHeaders.get('ratelimit-reset') : headers[name]
    expect(responseHeaders.get(name), `${name} of ${code}`).toBe(value ?? null)
  }
}

/** Checks the headers that every response has. */
export function expectCommonHeaders({ headers }: Pick<TestResponse, 'headers'>): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/)
  for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
    expect(headers.get(name), name).toMatch(/^\d+$/)
  }
  expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('access-control-allow-origin')).toBeNull()
}
