import { type Static, Type } from 'typebox'
import { FieldError } from './field-errors.ts'

/**
 * The error catalogue. The answers, the OpenAPI enum, the page at /docs/errors and the console's labels are all made
 * from it. A code never changes its meaning; its words may.
 */
export const errorCatalogue = {
  invalid_key: {
    status: 401,
    type: 'authentication_error',
    title: 'The key is not a key of this service',
    message: 'The API key is not valid.',
    cause:
      'The Authorization header is missing, is not of the form "Bearer <key>", stands twice, or holds a key this service does not know.',
    remedy: 'Send one header "Authorization: Bearer <key>" with a key from the console, under Developers.',
  },
  key_revoked: {
    status: 401,
    type: 'authentication_error',
    title: 'The key was revoked',
    message: 'This API key was revoked.',
    cause: 'Somebody revoked the key in the console.',
    remedy: 'Create a new key and put it in the place of this one. A revoked key does not come back.',
  },
  key_expired: {
    status: 401,
    type: 'authentication_error',
    title: 'The key has expired',
    message: 'This API key has expired.',
    cause: 'The key was created with an expiry, and that time has passed.',
    remedy: 'Create a new key, with a later expiry or with none.',
  },
  workspace_suspended: {
    status: 403,
    type: 'permission_error',
    title: 'The workspace is suspended',
    message: 'This workspace is suspended.',
    cause: 'The operator of this installation suspended the workspace.',
    remedy: 'Ask the operator. Keys, webhooks and data are kept and work again once the workspace is resumed.',
  },
  ip_not_allowed: {
    status: 403,
    type: 'permission_error',
    title: 'The address is not on the key’s allow-list',
    message: 'Requests with this key are not allowed from this address.',
    cause: 'The key has an allow-list of addresses, and the request came from another one: the one in details.ip.',
    remedy: 'Add the address to the key’s allow-list in the console, or call from a listed one.',
  },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    title: 'The key lacks a scope',
    message: 'This key lacks a scope that the request needs.',
    cause: 'The endpoint needs the scope in details.required_scope; the key has those in details.granted_scopes.',
    remedy: 'Use a key that was granted the scope, or grant it to this one in the console.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    title: 'The minute’s budget is used up',
    message: 'Too many requests: the budget for this minute is used up.',
    cause: 'More requests came within the window than the budget allows.',
    remedy: 'Wait for the seconds in Retry-After, then go on. An admin can raise a key’s budget up to 100 a minute.',
  },
  validation_failed: {
    status: 400,
    type: 'invalid_request_error',
    title: 'Something in the request is not as it must be',
    message: 'The request is not valid.',
    cause: 'A parameter, a field or the URL itself is missing, unknown, or of the wrong kind. Each fault is in errors.',
    remedy: 'Correct what errors names; param says where.',
  },
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    title: 'The body is not JSON',
    message: 'The body is not valid JSON.',
    cause: 'The body could not be read as JSON, is nested too deeply, or holds a forbidden key such as "__proto__".',
    remedy: 'Send one JSON object, encoded in UTF-8.',
  },
  insufficient_credits: {
    status: 402,
    type: 'billing_error',
    title: 'Not enough credits',
    message: 'The workspace has not enough credits for this message.',
    cause: 'Sending costs the credits in details.required; the workspace has those in details.available.',
    remedy: 'Ask the operator for credits. Nothing was sent and nothing was spent.',
  },
  not_found: {
    status: 404,
    type: 'invalid_request_error',
    title: 'There is no such thing here',
    message: 'Not found.',
    cause: 'The path is not an endpoint, or the id is not one of this workspace’s.',
    remedy: 'Check the path and the id. An id of another workspace answers just like one that never was.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    title: 'The endpoint does not take this method',
    message: 'This endpoint does not take that method.',
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    title: 'The request took too long to arrive',
    message: 'The request did not arrive completely in time.',
    cause: 'The headers or the body came in too slowly.',
    remedy: 'Send the request again over a better connection.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'idempotency_error',
    title: 'A request with this idempotency key is under way',
    message: 'A request with this Idempotency-Key is still under way.',
    cause: 'Another request with the same Idempotency-Key has not been answered yet.',
    remedy: 'Wait a moment and send the same request again: it answers as the first one did.',
  },
  file_expired: {
    status: 410,
    type: 'invalid_request_error',
    title: 'The file is no longer kept',
    message: 'This file is no longer kept.',
    cause: 'The uploaded file is past its retention, or the network no longer had it.',
    remedy: 'Fetch files soon after the flow.completed event.',
  },
  payload_too_large: {
    status: 413,
    type: 'invalid_request_error',
    title: 'The request is too large',
    message: 'The request is too large.',
    cause: 'A JSON body may have 256 KiB, the headers 16 KiB.',
    remedy: 'Send less. Media goes by link or id, not inside the body.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    title: 'The body is of a kind the service does not read',
    message: 'The body must be application/json, not compressed.',
    cause: 'The Content-Type is not application/json, or a Content-Encoding was used.',
    remedy: 'Send "Content-Type: application/json" and a plain body.',
  },
  range_not_satisfiable: {
    status: 416,
    type: 'invalid_request_error',
    title: 'The range lies outside the file',
    message: 'The range asked for lies outside the file.',
    cause: 'The Range header asks for bytes that the file does not have; Content-Range says how many it has.',
    remedy: 'Ask for a range within the file, or for the whole by leaving the header out.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'idempotency_error',
    title: 'The idempotency key was used for another request',
    message: 'This Idempotency-Key was used before with another body.',
    cause: 'The same Idempotency-Key came with a different body.',
    remedy: 'Use a new Idempotency-Key for each new request.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    title: 'Something broke on our side',
    message: 'Something went wrong on our side.',
    cause: 'A fault in the service. It was recorded under the request id.',
    remedy: 'Try again; if it persists, give the request id to the operator.',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    title: 'The service cannot answer just now',
    message: 'The service cannot answer just now.',
    cause:
      'The service is starting, stopping, or cannot reach its database; or it is reading too many request bodies at once; or the file asked for is still on its way from the network.',
    remedy: 'Try again after the seconds in Retry-After.',
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

const word = <Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>(Type.String({ enum: [...words] }))

export const ErrorReply = Type.Object(
  {
    error: Type.Object({
      type: word([...new Set(errorCodes.map((code) => errorCatalogue[code].type))]),
      code: word(errorCodes),
      message: Type.String({ description: 'For people. It may change; branch on `code`.' }),
      request_id: Type.String({ pattern: '^req_' }),
      doc_url: Type.String(),
      param: Type.Optional(Type.String({ description: 'The first parameter at fault.' })),
      errors: Type.Optional(Type.Array(FieldError, { maxItems: 20 })),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
  },
  { $id: 'Error', description: 'Every answer that is not 2xx has this shape.' },
)
export type ErrorReply = Static<typeof ErrorReply>
