/** An example of each error, for the OpenAPI document. `details` has the fields that the service sends with the code. */
import type { ErrorReply } from './error-reply.ts'
import { type ErrorCode, errorCatalogue, errorCodes } from './errors.ts'

type Parts = Pick<ErrorReply['error'], 'param' | 'errors' | 'details'> & { message?: string }

const parts: Partial<Record<ErrorCode, Parts>> = {
  key_revoked: {
    details: { key_id: '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d', revoked_at: '2026-11-15T09:30:00.000Z' },
  },
  key_expired: {
    details: { key_id: '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d', expired_at: '2026-11-15T09:30:00.000Z' },
  },
  ip_not_allowed: { details: { ip: '203.0.113.7' } },
  insufficient_scope: {
    message: "This key lacks the scope 'messages:send'.",
    details: { required_scope: 'messages:send', granted_scopes: ['messages:read'] },
  },
  rate_limited: { details: { limit: 30, retry_after: 17 } },
  validation_failed: {
    param: 'limit',
    errors: [{ param: 'limit', code: 'out_of_range', message: '"limit" must be from 1 to 100.' }],
  },
  insufficient_credits: { details: { required: 1, available: 0 } },
  recipient_opted_out: { details: { opted_out_at: '2026-11-15T09:30:00.000Z' } },
  cursor_expired: {
    details: {
      oldest_cursor: 'AwAAAaHeid9gPOIIAAAAvFUBod1-UoB1LIiGGWXncRUGUNhY4JhezH9gQYqvDMWrWA',
    },
  },
}

export const errorExamples = Object.fromEntries(errorCodes.map((code) => [code, exampleOf(code)])) as Readonly<
  Record<ErrorCode, ErrorReply>
>

function exampleOf(code: ErrorCode): ErrorReply {
  const { type, message } = errorCatalogue[code]
  return {
    error: {
      type,
      code,
      message,
      request_id: 'req_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
      doc_url: `https://parley.example.com/docs/errors#${code}`,
      ...parts[code],
    },
  }
}
