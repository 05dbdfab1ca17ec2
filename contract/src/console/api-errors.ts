import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { nullable, Timestamp } from '../ids.ts'
import { severalLike } from './list.ts'
import { LoggedRequest } from './requests.ts'

const apiErrorPeriods = ['24h', '7d', '30d'] as const
export type ApiErrorPeriod = (typeof apiErrorPeriods)[number]

/** A period until now, or the hours from `from` until `to`. Errors are counted by the hour, so part of an hour is all of it. */
const range = {
  since: Type.Optional(Type.Unsafe<ApiErrorPeriod>(Type.String({ enum: [...apiErrorPeriods] }))),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}
export const ApiErrorQuery = Type.Object(range, { additionalProperties: false })
export type ApiErrorQuery = Static<typeof ApiErrorQuery>

export const ApiErrorFilters = Type.Object(
  {
    ...range,
    code: Type.Optional(severalLike('[a-z_]{1,60}', 'an error code such as rate_limited')),
    status: Type.Optional(severalLike('[1-5]xx|[1-5]\\d\\d', 'a status such as 404 or 4xx')),
  },
  { additionalProperties: false },
)
export type ApiErrorFilters = Static<typeof ApiErrorFilters>

const KeyCount = Type.Object({
  id: Type.String(),
  name: nullable(Type.String()),
  hint: nullable(Type.String()),
  revoked: Type.Boolean(),
})

const InvalidField = Type.Object({
  /** Without the places in lists: `items[].name`. */
  field: Type.String(),
  /** How many requests. */
  count: Type.Integer(),
  /** What was wrong, as codes of field errors: `missing`. */
  codes: Type.Array(Type.String()),
  /** The latest request and its time. */
  request_id: Type.String(),
  last_at: Timestamp,
})
export type InvalidField = Static<typeof InvalidField>

export const ApiErrorGroup = Type.Object({
  code: Type.String(),
  status: nullable(Type.Integer()),
  title: Type.String(),
  cause: Type.String(),
  remedy: Type.String(),
  count: Type.Integer(),
  first_at: Timestamp,
  last_at: Timestamp,
  /** The ten keys with the most errors; `key_count` is the number of all keys. */
  keys: Type.Array(KeyCount),
  key_count: Type.Integer(),
  addresses: Type.Array(Type.String()),
  address_count: Type.Integer(),
  /** The count for each step of the period, oldest first. */
  trend: Type.Array(Type.Integer()),
  /** Of `validation_failed`: the fields that were invalid in the latest 500 requests, most frequent first. */
  fields: Type.Array(InvalidField),
  muted: nullable(Type.Object({ by: Type.String(), at: Timestamp })),
})
export type ApiErrorGroup = Static<typeof ApiErrorGroup>

export const ApiErrorGroups = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(ApiErrorGroup),
  since: Timestamp,
  /** The length of a step, in hours. */
  step_hours: Type.Integer(),
})
export type ApiErrorGroups = Static<typeof ApiErrorGroups>

export const ApiErrorDetail = Type.Object({
  ...ApiErrorGroup.properties,
  since: Timestamp,
  step_hours: Type.Integer(),
  by_key: Type.Array(Type.Object({ key: nullable(KeyCount), count: Type.Integer(), last_at: Timestamp })),
  by_address: Type.Array(Type.Object({ address: nullable(Type.String()), count: Type.Integer(), last_at: Timestamp })),
  /** Counted over the latest `routes_of` requests of the group. */
  by_route: Type.Array(Type.Object({ method: Type.String(), route: Type.String(), count: Type.Integer() })),
  routes_of: Type.Integer(),
  samples: Type.Array(LoggedRequest),
})
export type ApiErrorDetail = Static<typeof ApiErrorDetail>

export const MutedReply = Type.Object({ code: Type.String(), muted: Type.Boolean() })
