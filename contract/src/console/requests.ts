import { type Static, Type } from 'typebox'
import { FieldError } from '../field-errors.ts'
import { Moment } from '../formats.ts'
import { nullable, Timestamp } from '../ids.ts'
import { StoredBody } from './inspector.ts'
import { severalIds, severalLike } from './list.ts'
import { TimelineEvent } from './messages.ts'

const KeyName = Type.Object({
  id: Type.String(),
  /** Null if the key no longer exists. */
  name: nullable(Type.String()),
  hint: nullable(Type.String()),
})

export const LoggedRequest = Type.Object({
  id: Type.String(),
  at: Timestamp,
  method: Type.String(),
  /** The path pattern of the endpoint; `(no route)` if the path matches none. */
  route: Type.String(),
  status: Type.Integer(),
  code: nullable(Type.String()),
  duration_us: Type.Integer(),
  address: nullable(Type.String()),
  user_agent: nullable(Type.String()),
  key: nullable(KeyName),
})
export type LoggedRequest = Static<typeof LoggedRequest>

export const LoggedRequests = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(LoggedRequest),
  has_more: Type.Boolean(),
  next_cursor: nullable(Type.String()),
  /** The position of the newest row, to request newer rows with `after`. */
  newest_cursor: nullable(Type.String()),
  /**
   * A filter without an index searches a limited number of requests at a time. This is the time where it stopped:
   * everything newer was searched, and `next_cursor` continues from here.
   */
  searched_to: nullable(Timestamp),
})
export type LoggedRequests = Static<typeof LoggedRequests>

export const RequestDetail = Type.Object({
  ...LoggedRequest.properties,
  /** What the error means and what to do; null if the request succeeded. */
  error: nullable(Type.Object({ title: Type.String(), cause: Type.String(), remedy: Type.String() })),
  /** The path and the query string, redacted. Null if they are not stored. */
  target: nullable(Type.String()),
  /** Whether the workspace stores bodies now. */
  inspector_on: Type.Boolean(),
  /** Whether the bodies of this request are stored. */
  has_bodies: Type.Boolean(),
  /** How many days bodies and error responses are stored. */
  stored_days: Type.Integer(),
  /** Null if the request had none, or if it is not stored. */
  request_body: nullable(StoredBody),
  /** The response to a failed request is stored even if bodies are not. */
  response_body: nullable(StoredBody),
  /** The field errors in the response. */
  field_errors: Type.Array(FieldError),
  /** The message that the request created, if any. */
  message: nullable(Type.Object({ id: Type.String(), status: Type.String() })),
  /** The events about that message, with their deliveries. */
  events: Type.Array(TimelineEvent),
})
export type RequestDetail = Static<typeof RequestDetail>

export const requestFilters = {
  /** Statuses, or classes such as `4xx`. */
  status: Type.Optional(severalLike('[1-5]xx|[1-5]\\d\\d', 'a status such as 404 or 4xx')),
  code: Type.Optional(severalLike('[a-z_]{1,60}', 'an error code such as rate_limited')),
  method: Type.Optional(severalLike('[A-Z]{1,20}', 'an HTTP method such as POST')),
  /** Any part of the path. */
  route: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  key: severalIds('', 'keys'),
  address: Type.Optional(Type.String({ minLength: 1, maxLength: 45 })),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
  /** `req_…`, or the part after the prefix. */
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
}

export const RequestFilters = Type.Object(requestFilters, { additionalProperties: false })
export type RequestFilters = Static<typeof RequestFilters>
