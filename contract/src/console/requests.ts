import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { nullable, Timestamp, Uuid } from '../ids.ts'

const KeyName = Type.Object({
  id: Type.String(),
  /** Null: the key is not known any more. */
  name: nullable(Type.String()),
  hint: nullable(Type.String()),
})

export const LoggedRequest = Type.Object({
  id: Type.String(),
  at: Timestamp,
  method: Type.String(),
  /** The pattern of the endpoint; of a path that is none, the path. */
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
  /** Where the newest row stands, to ask for what came `after` it. */
  newest_cursor: nullable(Type.String()),
  /**
   * A filter that no index serves looks through so many requests at a time. Set where it had to stop: nothing newer than
   * this was left out, and `next_cursor` looks on from here.
   */
  searched_to: nullable(Timestamp),
})
export type LoggedRequests = Static<typeof LoggedRequests>

export const RequestDetail = Type.Object({
  ...LoggedRequest.properties,
  /** What the error means and what to do; null where it went well. */
  error: nullable(Type.Object({ title: Type.String(), cause: Type.String(), remedy: Type.String() })),
  /** The message that this request made, where it made one. */
  message_id: nullable(Type.String()),
})
export type RequestDetail = Static<typeof RequestDetail>

export const requestFilters = {
  /** A class, as in 4xx, or one status. */
  status: Type.Optional(Type.String({ pattern: '^([1-5]xx|[1-5]\\d\\d)$', examples: ['4xx'] })),
  code: Type.Optional(Type.String({ pattern: '^[a-z_]{1,60}$', examples: ['rate_limited'] })),
  method: Type.Optional(Type.String({ pattern: '^[A-Z]{1,20}$', examples: ['POST'] })),
  /** Any part of the path. */
  route: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** The id of a key. */
  key: Type.Optional(Uuid),
  address: Type.Optional(Type.String({ minLength: 1, maxLength: 45 })),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
  /** `req_…`, or the part behind it. */
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
}

const RequestFilters = Type.Object(requestFilters)
export type RequestFilters = Static<typeof RequestFilters>

/** An export holds no more than this; the last line of one that was cut says so. */
export const exportMax = 100_000
