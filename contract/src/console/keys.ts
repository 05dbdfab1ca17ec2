import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { nullable, Timestamp, Uuid } from '../ids.ts'
import { Scopes } from '../scopes.ts'
import { SearchText, severalOf } from './list.ts'

/** `expiring` still works, but expires soon. */
const keyStates = ['active', 'expiring', 'expired', 'revoked'] as const
export type KeyState = (typeof keyStates)[number]
const KeyStateName = Type.Unsafe<KeyState>(Type.String({ enum: [...keyStates] }))

/** The time is when a key was created. */
export const KeyFilters = Type.Object(
  { q: SearchText, state: severalOf(keyStates), from: Type.Optional(Moment), to: Type.Optional(Moment) },
  { additionalProperties: false },
)
export type KeyFilters = Static<typeof KeyFilters>

/** A key as the console shows it. The secret is only in the response that creates the key. */
export const ConsoleKey = Type.Object({
  id: Uuid,
  name: Type.String(),
  hint: Type.String(),
  state: KeyStateName,
  scopes: Scopes,
  rate_limit_per_min: Type.Integer(),
  ip_allow_list: Type.Array(Type.String()),
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  created_by: Type.String(),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
  last_used_ip: nullable(Type.String()),
})
export type ConsoleKey = Static<typeof ConsoleKey>

const OtherKey = nullable(Type.Object({ id: Uuid, hint: Type.String() }))
const Days = Type.Array(Type.Integer())

/** A key in the list: the keys that rotations connect it with, and its requests by day (UTC) of the last seven days, today last. */
export const ListedKey = Type.Object({
  ...ConsoleKey.properties,
  replaced_by: OtherKey,
  replaces: OtherKey,
  /** By result: successful, 4xx except 429, 429 and 5xx. */
  requests_by_day: Type.Object({ ok: Days, refused: Days, rate_limited: Days, failed: Days }),
})
export type ListedKey = Static<typeof ListedKey>

const rules = {
  name: Type.String({ maxLength: 200 }),
  scopes: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 }),
  rate_limit_per_min: Type.Integer(),
  ip_allow_list: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 }),
  expires_at: nullable(Moment),
}

export const NewKey = Type.Object(
  {
    name: rules.name,
    scopes: rules.scopes,
    rate_limit_per_min: Type.Optional(rules.rate_limit_per_min),
    ip_allow_list: Type.Optional(rules.ip_allow_list),
    expires_at: Type.Optional(rules.expires_at),
  },
  { additionalProperties: false },
)
export type NewKey = Static<typeof NewKey>

export const KeyChange = Type.Partial(Type.Object(rules), { additionalProperties: false, minProperties: 1 })
export type KeyChange = Static<typeof KeyChange>

/** How long the old key keeps working after a rotation. */
export const graceHours = [0, 1, 24] as const
export type GraceHours = (typeof graceHours)[number]

export const KeyRotation = Type.Object(
  { grace_hours: Type.Unsafe<GraceHours>(Type.Integer({ enum: [...graceHours] })) },
  { additionalProperties: false },
)
export type KeyRotation = Static<typeof KeyRotation>

/** The only response that contains a key's secret. */
export const CreatedKey = Type.Object({
  key: ConsoleKey,
  secret: Type.String(),
  /** Settings that are allowed but may be unintended. */
  warnings: Type.Array(Type.String()),
})
export type CreatedKey = Static<typeof CreatedKey>

export const ChangedKey = Type.Object({ key: ConsoleKey, warnings: Type.Array(Type.String()) })
export type ChangedKey = Static<typeof ChangedKey>

export const MyAddress = Type.Object({ address: Type.String() })
export type MyAddress = Static<typeof MyAddress>
