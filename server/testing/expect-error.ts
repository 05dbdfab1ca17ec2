import type { ErrorCode } from '@parley/contract/errors'
import { expect } from 'vitest'

/** Status and type of each code as the contract has them, kept apart from the catalogue that the service answers from. */
export const contractErrors: Readonly<Record<ErrorCode, readonly [status: number, type: string]>> = {
  invalid_key: [401, 'authentication_error'],
  key_revoked: [401, 'authentication_error'],
  key_expired: [401, 'authentication_error'],
  workspace_suspended: [403, 'permission_error'],
  ip_not_allowed: [403, 'permission_error'],
  insufficient_scope: [403, 'permission_error'],
  rate_limited: [429, 'rate_limit_error'],
  validation_failed: [400, 'invalid_request_error'],
  invalid_json: [400, 'invalid_request_error'],
  insufficient_credits: [402, 'billing_error'],
  not_found: [404, 'invalid_request_error'],
  method_not_allowed: [405, 'invalid_request_error'],
  request_timeout: [408, 'invalid_request_error'],
  idempotency_in_progress: [409, 'idempotency_error'],
  file_expired: [410, 'invalid_request_error'],
  payload_too_large: [413, 'invalid_request_error'],
  unsupported_media_type: [415, 'invalid_request_error'],
  range_not_satisfiable: [416, 'invalid_request_error'],
  idempotency_key_reused: [422, 'idempotency_error'],
  internal_error: [500, 'api_error'],
  service_unavailable: [503, 'api_error'],
}

/** Codes of features that are still to come; nothing throws them yet. */
export const codesNotThrownYet: readonly ErrorCode[] = []

export interface Refused {
  code: ErrorCode
  message?: string
  param?: string
  errors?: object[]
  details?: object
  /** Besides the standing ones; those of the special headers that are not named must be absent. */
  headers?: Partial<Record<(typeof special)[number], string>>
}

const special = ['www-authenticate', 'retry-after', 'allow'] as const

interface Answered {
  status: number
  headers: { get(name: string): string | null }
  body: unknown
}

/** Holds a refusal against the contract, to the last member and header. */
export function expectRefusal(response: Answered, refused: Refused): void {
  const { code, message = expect.any(String), headers = {}, ...parts } = refused
  const [status, type] = contractErrors[code]
  const { headers: given } = response
  expect(response.body).toEqual({
    error: {
      type,
      code,
      message,
      request_id: given.get('x-request-id'),
      doc_url: `http://parley.test/docs/errors#${code}`,
      ...parts,
    },
  })
  expect(response.status).toBe(status)
  expectCommonHeaders(response)
  expect(given.get('content-type')).toBe('application/json; charset=utf-8')
  for (const name of special) {
    const wanted = code === 'rate_limited' && name === 'retry-after' ? given.get('ratelimit-reset') : headers[name]
    expect(given.get(name), `${name} of ${code}`).toBe(wanted ?? null)
  }
}

/** The headers that stand on every answer. */
export function expectCommonHeaders({ headers }: Pick<Answered, 'headers'>): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/)
  for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
    expect(headers.get(name), name).toMatch(/^\d+$/)
  }
  expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('access-control-allow-origin')).toBeNull()
}
