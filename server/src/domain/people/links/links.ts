import { randomBytes } from 'node:crypto'
import type { Role } from '@parley/contract/console/permissions'
import type { LinkKind } from '@parley/contract/console/session'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { sha256 } from '../../../lib/hash.ts'
import { newUuid } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { endAccess, newPassword, type Recovered, removeSecondFactor } from '../account/account.ts'
import {
  endLinks,
  endResets,
  findOpenLink,
  findOpenLinkById,
  insertLink,
  invitesWithoutAccount,
  type LinkRow,
  type OpenLink,
  openInvites,
  useLink,
  withdrawInvite,
} from '../links.sql.ts'
import { makeOperator } from '../operators/operators.ts'
import { setPerson } from '../people.sql.ts'
import {
  createPerson,
  findPerson,
  holdPerson,
  lockPerson,
  type Person,
  readEmail,
  requireEnabled,
  requirePerson,
} from '../people.ts'
import { addMember } from '../team/members.ts'

const day = 24 * 3_600_000
export const linkLifetimeMs: Record<LinkKind, number> = { setup: 7 * day, invite: 7 * day, reset: 30 * 60_000 }

export type Invite = LinkRow
export type Link = OpenLink

/** Creates an operator, who is also an admin of the workspace if one is given. */
export async function newSetupLink(
  db: Db,
  clock: Clock,
  workspaceId: string | null,
  createdBy: string,
): Promise<string> {
  await endLinks(db, 'setup', null, workspaceId, clock.now())
  return newLink(db, clock, {
    kind: 'setup',
    workspace_id: workspaceId,
    role: workspaceId ? 'admin' : null,
    operator: true,
    createdBy,
  })
}

/** Invites one email address to one workspace. A newer invitation replaces the older one. */
export async function invite(
  db: Db,
  clock: Clock,
  input: { workspaceId: string; email: string; role: Role; createdBy: string; mailed?: boolean },
): Promise<string> {
  const email = readEmail(input.email)
  await endLinks(db, 'invite', email, input.workspaceId, clock.now())
  const { workspaceId: workspace_id, role, createdBy, mailed = false } = input
  db.notify(workspace_id, 'team')
  return newLink(db, clock, { kind: 'invite', email, workspace_id, role, createdBy, mailed })
}

/** A password reset link: works once, for 30 minutes. A newer link replaces the older one. `mailed`: it is shown to no one. */
export async function newResetLink(
  db: Db,
  clock: Clock,
  person: Person,
  createdBy: string,
  mailed = false,
): Promise<string> {
  if (person.disabled_at) refuse('conflict', { message: `${person.email} is disabled. Enable the account first.` })
  await endResets(db, person.id, clock.now())
  return newLink(db, clock, { kind: 'reset', person_id: person.id, createdBy, mailed })
}

export interface Promotion extends Recovered {
  /** The token of a reset link. */
  token: string
}

/**
 * Makes a person an operator. If the email address is unverified, someone else may have set up the account: everything that
 * opens it is removed, and the returned reset link is the only way in. Call it in a transaction.
 */
export async function promote(db: Db, clock: Clock, id: string, createdBy: string): Promise<Promotion | null> {
  const person = await lockPerson(db, id)
  const mustReset = !person.operator && person.email_verified_at === null
  const recovered = mustReset ? await removeSecondFactor(db, id) : null
  await makeOperator(db, person)
  return recovered && { ...recovered, token: await newResetLink(db, clock, person, createdBy) }
}

export const listInvites = (db: Db, clock: Clock, workspaceId: string): Promise<Invite[]> =>
  openInvites(db, workspaceId, clock.now())

/** The people who were invited, have not used their link and have no account, by email address. */
export async function listInvited(db: Db, clock: Clock): Promise<Invited[]> {
  const byEmail = new Map<string, Invited>()
  for (const { email, created_at, workspace_id, workspace, role } of await invitesWithoutAccount(db, clock.now())) {
    const invited = byEmail.get(email) ?? { email, created_at, memberships: [] }
    invited.memberships.push({ workspace_id, workspace, role })
    byEmail.set(email, invited)
  }
  return [...byEmail.values()]
}

export interface Invited {
  email: string
  created_at: Date
  memberships: { workspace_id: string; workspace: string; role: string }[]
}

export async function endInvite(db: Db, clock: Clock, workspaceId: string, id: string): Promise<Invite> {
  const ended = (await withdrawInvite(db, workspaceId, id, clock.now())) ?? refuse('not_found')
  db.notify(workspaceId, 'team')
  return ended
}

/**
 * Does not say whether the invited email address has an account: the person who created the invitation has its link too, and
 * would learn it.
 */
export const readLink = async (db: Db, clock: Clock, token: string): Promise<Link> =>
  (await findOpenLink(db, sha256(token), clock.now())) ?? refuse('link_expired')

/** Whether a link can still be used: it was not used, replaced or withdrawn, and has not expired. */
export const isLinkOpen = async (db: Db, clock: Clock, token: string): Promise<boolean> =>
  (await findOpenLink(db, sha256(token), clock.now())) !== undefined

/** The existing account that a link would change. Its password has to be verified before the link is followed. */
export const accountFor = async (db: Db, link: Link, email: string | undefined): Promise<Person | undefined> =>
  link.kind === 'reset' ? undefined : findPerson(db, link.email ?? email ?? '')

export interface FollowedLink {
  link: Link
  person: Person
  /** The role in the workspace of the link. */
  role: Role | null
  /** For a password reset: what was removed. */
  recovered: Recovered | null
}

/**
 * Uses a link with a new password: for a new account, or a reset. Call it in a transaction. A reset sets the password,
 * removes every passkey and ends every session and pending challenge; an authenticator app stays.
 *
 * Whether the email address is verified depends on the link that set the password: was it sent to the address, and
 * shown to no one else? An invitation that an existing account accepts does not verify it, because its password and
 * passkeys stay. Nor does a reset of an unverified account with an authenticator app, which stays: someone else may
 * have set it up.
 */
export async function followLink(
  db: Db,
  clock: Clock,
  token: string,
  given: { name?: string; email?: string; passwordHash: string },
): Promise<FollowedLink> {
  const link = await readLink(db, clock, token)
  // The person before the link, as in everything that ends reset links: the other way around, both wait for each other.
  if (link.person_id) await lockPerson(db, link.person_id)
  if (!(await useLink(db, link.id, clock.now()))) refuse('link_expired')
  if (link.kind === 'reset') {
    const person = await requirePerson(db, link.person_id as string)
    const recovered = await endAccess(db, person.id)
    await newPassword(db, clock, person.id, given.passwordHash)
    const isOwn = person.email_verified_at !== null || person.totp_confirmed_at === null
    await setPerson(db, person.id, 'email_verified_at', link.mailed && isOwn ? clock.now() : null)
    return { link, person, role: null, recovered }
  }
  if (await accountFor(db, link, given.email)) {
    refuse('conflict', { message: 'An account with this email address exists now. Try again with its password.' })
  }
  const { operator, mailed: isVerified } = link
  const account = { email: link.email ?? given.email ?? '', name: given.name ?? '', passwordHash: given.passwordHash }
  return grant(db, clock, link, await createPerson(db, clock, { ...account, operator, isVerified }))
}

/**
 * Accepts an invitation as the person who is signed in: they proved who they are, so no password is needed. Call it in a
 * transaction. A setup link makes an operator, which needs the password.
 */
export async function acceptInvite(db: Db, clock: Clock, token: string, person: Person): Promise<FollowedLink> {
  const { id, kind, email } = await readLink(db, clock, token)
  if (kind !== 'invite') refuse('conflict', { message: 'Only an invitation can be accepted without a password.' })
  if (email !== person.email) {
    refuse('conflict', { message: `This invitation is for ${email}. You are signed in as ${person.email}.` })
  }
  return useLinkAs(db, clock, id, requireEnabled(await holdPerson(db, person.id)))
}

/** Uses an invitation or a setup link for a person whose password and second factor were checked. Call it in a transaction. */
export async function useLinkAs(db: Db, clock: Clock, linkId: string, person: Person): Promise<FollowedLink> {
  const link = await findOpenLinkById(db, linkId, clock.now())
  if (!link || !(await useLink(db, link.id, clock.now()))) return refuse('link_expired')
  return grant(db, clock, link, person)
}

/** Gives the person what the link offers: a role in a workspace, or the rights of an operator. */
async function grant(db: Db, clock: Clock, link: Link, person: Person): Promise<FollowedLink> {
  if (link.operator && !person.operator) {
    if (person.email_verified_at === null) {
      const advice = `./parley user operator --email ${person.email}`
      refuse('conflict', {
        message: `The email address of this account is unverified, so others may have access to it. Run: ${advice}`,
      })
    }
    await makeOperator(db, person)
  }
  const { workspace_id: workspaceId, role } = link
  const granted = workspaceId && role ? await addMember(db, clock, workspaceId, person.id, role) : null
  return { link, person, role: granted, recovered: null }
}

interface NewLink extends Partial<Omit<LinkRow, 'id' | 'kind' | 'created_by' | 'created_at' | 'expires_at'>> {
  kind: LinkKind
  createdBy: string
}

async function newLink(db: Db, clock: Clock, { createdBy, ...input }: NewLink): Promise<string> {
  const token = randomBytes(24).toString('base64url')
  const at = clock.now()
  await insertLink(db, {
    email: null,
    person_id: null,
    workspace_id: null,
    role: null,
    operator: false,
    mailed: false,
    ...input,
    id: newUuid(at.getTime()),
    digest: sha256(token),
    created_by: createdBy,
    created_at: at,
    expires_at: new Date(at.getTime() + linkLifetimeMs[input.kind]),
  })
  return token
}

/** The token is in the fragment, which browsers do not send: it is in no log of a proxy and in no Referer header. */
export const linkUrl = (publicUrl: string, token: string): string => `${publicUrl}/link#${token}`
