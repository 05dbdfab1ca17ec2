import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'
import { SearchText, severalOf } from './list.ts'
import { roles } from './permissions.ts'
import { RoleName } from './session.ts'

export const Member = Type.Object({
  id: Uuid,
  email: Type.String(),
  /** Whether the owner of the address set the password, with a link that was sent to it. */
  email_verified: Type.Boolean(),
  name: Type.String(),
  role: RoleName,
  two_factor: Type.Boolean(),
  is_you: Type.Boolean(),
  created_at: Timestamp,
  last_seen_at: nullable(Timestamp),
})
export type Member = Static<typeof Member>

export const TeamFilters = Type.Object({ q: SearchText, role: severalOf(roles) }, { additionalProperties: false })
export type TeamFilters = Static<typeof TeamFilters>

/** An invitation that has not been accepted yet. */
export const Invite = Type.Object({
  id: Uuid,
  email: Type.String(),
  role: RoleName,
  created_by: Type.String(),
  created_at: Timestamp,
  expires_at: Timestamp,
})
export type Invite = Static<typeof Invite>

export const Team = Type.Object({ members: Type.Array(Member), invites: Type.Array(Invite) })
export type Team = Static<typeof Team>

/** A one-time link. It is sent by email, or shown once to the person who created it. */
export const CreatedLink = Type.Object({
  /** Null: it is sent by email. */
  url: nullable(Type.String()),
  expires_at: Timestamp,
  mailed: Type.Boolean(),
})
export type CreatedLink = Static<typeof CreatedLink>
