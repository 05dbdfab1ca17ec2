import { type Static, Type } from 'typebox'
import { type Role, roles } from './permissions.ts'

const When = Type.String({ format: 'date-time' })
export const RoleName = Type.Unsafe<Role>(Type.String({ enum: [...roles] }))

/** The person who is signed in, and their workspaces. */
export const SessionReply = Type.Object({
  person: Type.Object({
    id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    /** The time zone of the times on the console, an IANA name. Null: that of the browser. */
    time_zone: Type.Union([Type.String(), Type.Null()]),
    /** Without one, the person signs in and confirms with a passkey. */
    has_password: Type.Boolean(),
    two_factor: Type.Boolean(),
    passkeys: Type.Integer(),
    /** Operators run the installation: they manage its workspaces, apps and health. */
    operator: Type.Boolean(),
    /** An operator who has to set up an authenticator app or a passkey before anything else. */
    must_set_up_two_factor: Type.Boolean(),
  }),
  workspaces: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      role: RoleName,
      /** Every member must have two-factor authentication. */
      requires_two_factor: Type.Boolean(),
      suspended: Type.Boolean(),
      suspended_reason: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  session: Type.Object({
    id: Type.String(),
    /** Until when the person's identity counts as confirmed. */
    confirmed_until: Type.Union([When, Type.Null()]),
  }),
  public_url: Type.String(),
  simulator_url: Type.Union([Type.String(), Type.Null()]),
  /** A phone of the simulator for first messages. */
  simulator_phone: Type.Union([Type.String(), Type.Null()]),
  version: Type.String(),
})
export type SessionReply = Static<typeof SessionReply>

/** What the sign-in page needs to know. */
export const SignInReply = Type.Object({
  /** Whether there is an account. The first one is created with the link that the first start prints. */
  is_set_up: Type.Boolean(),
  /** The address that passkeys are for. */
  public_url: Type.String(),
  /** False if the installation sends no emails. Then a person who forgot the password asks the operator for a link. */
  sends_mail: Type.Boolean(),
})
export type SignInReply = Static<typeof SignInReply>

/** The next step of signing in. */
export const NextStep = Type.Object({
  next: Type.Unsafe<'done' | 'second_factor'>(Type.String({ enum: ['done', 'second_factor'] })),
})
export type NextStep = Static<typeof NextStep>

const linkKinds = ['setup', 'invite', 'reset'] as const
export type LinkKind = (typeof linkKinds)[number]

/** A one-time link, with the data for its page. */
export const LinkReply = Type.Object({
  kind: Type.Unsafe<LinkKind>(Type.String({ enum: [...linkKinds] })),
  email: Type.Union([Type.String(), Type.Null()]),
  /** The workspace that the link leads to. */
  workspace_id: Type.Union([Type.String(), Type.Null()]),
  workspace_name: Type.Union([Type.String(), Type.Null()]),
  role: Type.Union([RoleName, Type.Null()]),
  expires_at: When,
  /** The email address of the person who is signed in in this browser. They can accept an invitation without a password. */
  signed_in_as: Type.Union([Type.String(), Type.Null()]),
  /** The role that this person has in the workspace already, if the invitation is for them. They keep it if it is higher. */
  current_role: Type.Union([RoleName, Type.Null()]),
})
export type LinkReply = Static<typeof LinkReply>

export const ConfirmReply = Type.Object({ confirmed_until: When })
export type ConfirmReply = Static<typeof ConfirmReply>

export const PasskeyRow = Type.Object({ id: Type.String(), name: Type.String(), created_at: When })
export type PasskeyRow = Static<typeof PasskeyRow>

export const SessionRow = Type.Object({
  id: Type.String(),
  current: Type.Boolean(),
  created_at: When,
  last_seen_at: When,
  address: Type.Union([Type.String(), Type.Null()]),
  user_agent: Type.Union([Type.String(), Type.Null()]),
})
export type SessionRow = Static<typeof SessionRow>

/** The length of a password, in characters. There are no other rules. */
export const passwordLength = { min: 15, max: 128 } as const
