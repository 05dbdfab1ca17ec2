import { type Static, Type } from 'typebox'
import { FieldError } from './field-errors.ts'

/**
 * The error catalogue. Error responses, the OpenAPI enum, the page at /docs/errors and the console's labels come from
 * it. A code never changes its meaning; its texts may change.
 */
export const errorCatalogue = {
  invalid_key: {
    status: 401,
    type: 'authentication_error',
    title: 'Invalid API key',
    message:
      'Invalid API key. Send "Authorization: Bearer <key>" with a key that begins with "prl_live_". A value that begins with "whsec_" is the signing secret of a webhook.',
    cause:
      'The Authorization header is missing, appears more than once, is not in the format "Bearer <key>", or contains an unknown key.',
    remedy:
      'Send one header "Authorization: Bearer <key>" with a valid key. Create one in the console under Developers → API keys.',
  },
  key_revoked: {
    status: 401,
    type: 'authentication_error',
    title: 'API key revoked',
    message: 'This API key has been revoked.',
    cause: 'An admin revoked the key in the console or on the command line.',
    remedy:
      'Create a new key in the console under Developers → API keys and replace this one. A revoked key cannot be restored.',
  },
  key_expired: {
    status: 401,
    type: 'authentication_error',
    title: 'API key expired',
    message: 'This API key has expired.',
    cause: 'The key was created with an expiry date, and that date has passed.',
    remedy: 'Create a new key in the console under Developers → API keys, with a later expiry date or none.',
  },
  workspace_suspended: {
    status: 403,
    type: 'permission_error',
    title: 'Workspace suspended',
    message: 'This workspace is suspended.',
    cause: 'The operator of this installation suspended the workspace.',
    remedy: 'Contact the operator. Nothing was deleted. Everything works again when the workspace is resumed.',
  },
  ip_not_allowed: {
    status: 403,
    type: 'permission_error',
    title: 'IP address not allowed',
    message: 'This API key cannot be used from this IP address.',
    cause: 'The key has an IP allowlist, and the address of the request (details.ip) is not on it.',
    remedy:
      'Add the address to the key’s IP allowlist in the console under Developers → API keys, or send the request from a listed address.',
  },
  origin_not_allowed: {
    status: 403,
    type: 'permission_error',
    title: 'Origin not allowed',
    message: 'Browsers may send requests to /mcp only from the pages of this service.',
    cause: 'The Origin header of a request to /mcp names another site than PUBLIC_URL.',
    remedy: 'Call /mcp from a program, which sends no Origin header. If the site is this service, correct PUBLIC_URL.',
  },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    title: 'Insufficient scope',
    message: 'This key lacks a scope that the request requires.',
    cause:
      'The request requires the scope in details.required_scope. The key has the scopes in details.granted_scopes.',
    remedy: 'Add the scope to the key in the console under Developers → API keys, or use a key that has it.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    title: 'Rate limit exceeded',
    message: 'Rate limit exceeded. Retry after the number of seconds in the Retry-After header.',
    cause:
      'The key sent more requests in one minute than its rate limit allows. Requests without a valid key are limited by IP address.',
    remedy:
      'Wait for the number of seconds in the Retry-After header, then retry. An admin can raise a key’s rate limit to at most 100 requests per minute.',
  },
  validation_failed: {
    status: 400,
    type: 'invalid_request_error',
    title: 'Invalid request',
    message: 'The request is invalid.',
    cause: 'A field, a parameter, a header or the URL is missing, unknown or invalid. The errors array lists each one.',
    remedy: 'Fix each entry in errors: param is the name of the field, and message says what is wrong with it.',
  },
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    title: 'Invalid JSON',
    message: 'The request body is not valid JSON.',
    cause: 'The body cannot be parsed as JSON, is nested too deeply, or contains a forbidden key such as "__proto__".',
    remedy: 'Send a single JSON object, encoded in UTF-8.',
  },
  insufficient_credits: {
    status: 402,
    type: 'billing_error',
    title: 'Insufficient credits',
    message: 'The workspace does not have enough credits to send this message.',
    cause: 'The message costs details.required credits, and the workspace has details.available.',
    remedy: 'Ask the operator to add credits, then send the message again. Nothing was sent or charged.',
  },
  recipient_opted_out: {
    status: 400,
    type: 'invalid_request_error',
    title: 'Recipient opted out',
    message: 'The recipient opted out of marketing messages from this sender.',
    cause:
      'The template is a marketing template, and the recipient stopped marketing messages of this number at details.opted_out_at.',
    remedy:
      'Do not send marketing templates to this contact. Utility and authentication templates and replies are still possible. Nothing was sent or charged.',
  },
  not_found: {
    status: 404,
    type: 'invalid_request_error',
    title: 'Not found',
    message: 'Not found.',
    cause: 'The path does not exist, or this workspace has no object with this ID.',
    remedy: 'Check the path and the ID. The ID of an object in another workspace also returns this error.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    title: 'Method not allowed',
    message: 'This path does not support the request method.',
    cause: 'The path exists, but not for this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    title: 'Request timeout',
    message: 'The request was not received completely in time.',
    cause: 'The headers or the body arrived too slowly.',
    remedy: 'Send the request again. If it keeps timing out, check the network connection.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'idempotency_error',
    title: 'Idempotent request in progress',
    message: 'A request with this Idempotency-Key is still in progress.',
    cause: 'An earlier request with the same Idempotency-Key has not finished yet.',
    remedy: 'Wait a moment, then send the same request again. You get the response of the first request.',
  },
  file_expired: {
    status: 410,
    type: 'invalid_request_error',
    title: 'File expired',
    message: 'This file has expired.',
    cause: 'The file is past its retention period, or WhatsApp deleted it before it was downloaded.',
    remedy: 'Download files soon after you receive the message.received or flow.completed event.',
  },
  cursor_expired: {
    status: 410,
    type: 'invalid_request_error',
    title: 'Cursor expired',
    message: 'This cursor is older than the stored events.',
    cause:
      'Events that followed the cursor are past their retention period, or the database was restored from a copy that is older than the cursor. details.oldest_cursor is the cursor of the oldest stored event.',
    remedy:
      'Continue with details.oldest_cursor, and ignore events whose id you know. To recover earlier messages, list messages and inbound messages.',
  },
  payload_too_large: {
    status: 413,
    type: 'invalid_request_error',
    title: 'Payload too large',
    message: 'The request is too large.',
    cause:
      'A JSON body can be at most 256 KiB, the headers at most 16 KiB, and an uploaded file at most 100 MB. Or the uploaded files of the workspace would take more than its storage, details.limit in bytes.',
    remedy: 'Make the request smaller. Send media by link or ID, not in the body. Stored files expire after 30 days.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    title: 'Unsupported media type',
    message: 'The request body must be application/json and not compressed.',
    cause:
      'The Content-Type is not application/json (for uploads: multipart/form-data), or the request has a Content-Encoding.',
    remedy:
      'Send the header "Content-Type: application/json" and an uncompressed body. Upload a file as multipart/form-data.',
  },
  range_not_satisfiable: {
    status: 416,
    type: 'invalid_request_error',
    title: 'Range not satisfiable',
    message: 'The requested range is outside the file.',
    cause: 'The Range header requests bytes beyond the end of the file. Content-Range has the size of the file.',
    remedy: 'Request a range within the file, or omit the Range header to get the whole file.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'idempotency_error',
    title: 'Idempotency key reused',
    message: 'This Idempotency-Key was already used with a different request body.',
    cause: 'An earlier request had the same Idempotency-Key and a different body.',
    remedy: 'Use a new Idempotency-Key for each new request. To retry a request, send the same body.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    title: 'Internal error',
    message: 'Something went wrong on our side.',
    cause: 'An unexpected error occurred in the service. It was logged with the request ID.',
    remedy: 'Retry the request. If the error persists, send the request ID to the operator.',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    title: 'Service unavailable',
    message: 'The service is temporarily unavailable.',
    cause:
      'The service is starting or stopping, cannot reach its database, or has too many or too large requests in progress, in total, from your IP address or of your workspace. For a file: it is still being downloaded from WhatsApp.',
    remedy: 'Wait for the number of seconds in the Retry-After header, then retry.',
  },
} as const satisfies Record<string, ErrorEntry>

interface ErrorEntry {
  status: number
  type: string
  title: string
  message: string
  cause: string
  remedy: string
}

export type ErrorCode = keyof typeof errorCatalogue
export type ErrorType = (typeof errorCatalogue)[ErrorCode]['type']

export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[]

const oneOf = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Unsafe<Value>(Type.String({ enum: [...values], description }))

export const ErrorReply = Type.Object(
  {
    error: Type.Object({
      type: oneOf(
        [...new Set(errorCodes.map((code) => errorCatalogue[code].type))],
        'The category of the error. Several codes share a type.',
      ),
      code: oneOf(errorCodes, 'What went wrong. Codes are stable: branch on this field.'),
      message: Type.String({ description: 'What went wrong, for people. The text may change; branch on `code`.' }),
      request_id: Type.String({ pattern: '^req_', description: 'The ID of the request, also in `X-Request-Id`.' }),
      doc_url: Type.String({ description: 'A page that explains the error and how to fix it.' }),
      param: Type.Optional(Type.String({ description: 'The first invalid field or parameter.' })),
      errors: Type.Optional(
        Type.Array(FieldError, { maxItems: 20, description: 'Every invalid field or parameter, at most 20.' }),
      ),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'More about the error. The fields depend on `code`.',
        }),
      ),
    }),
  },
  { $id: 'Error', description: 'The response body of every request under `/v1` that fails.' },
)
export type ErrorReply = Static<typeof ErrorReply>
