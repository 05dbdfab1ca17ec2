import { randomBytes } from 'node:crypto'
import type { Role } from '@parley/contract/console/permissions'
import type { LinkKind } from '@parley/contract/console/session'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/hash.ts'
import { newUuid } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import {
  allOpenInvites,
  endLinks,
  endResets,
  findOpenLink,
  insertLink,
  type LinkRow,
  type OpenLink,
  openInvites,
  useLink,
  withdrawInvite,
} from './links.sql.ts'
import { addMember } from './members.ts'
import { newPassword } from './new-password.ts'
import { createPerson, findPerson, holdPerson, makeOperator, type Person, readEmail, requirePerson } from './people.ts'
import { endAccess, type Recovered } from './recovery.ts'

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
  input: { workspaceId: string; email: string; role: Role; createdBy: string },
): Promise<string> {
  const email = readEmail(input.email)
  await endLinks(db, 'invite', email, input.workspaceId, clock.now())
  const { workspaceId: workspace_id, role, createdBy } = input
  db.notify(workspace_id, 'team')
  return newLink(db, clock, { kind: 'invite', email, workspace_id, role, createdBy })
}

/** A password reset link: works once, for 30 minutes. A newer link replaces the older one. */
export async function newResetLink(db: Db, clock: Clock, person: Person, createdBy: string): Promise<string> {
  await endResets(db, person.id, clock.now())
  return newLink(db, clock, { kind: 'reset', person_id: person.id, createdBy })
}

export const listInvites = (db: Db, clock: Clock, workspaceId: string): Promise<Invite[]> =>
  openInvites(db, workspaceId, clock.now())

/** The invitations to all workspaces that still work, oldest first. */
export const listAllInvites = (db: Db, clock: Clock) => allOpenInvites(db, clock.now())

export async function endInvite(db: Db, clock: Clock, workspaceId: string, id: string): Promise<Invite> {
  const ended = (await withdrawInvite(db, workspaceId, id, clock.now())) ?? refuse('not_found')
  db.notify(workspaceId, 'team')
  return ended
}

export async function readLink(db: Db, clock: Clock, token: string): Promise<Link & { hasAccount: boolean }> {
  const link = (await findOpenLink(db, sha256(token), clock.now())) ?? refuse('link_expired')
  const hasAccount = link.kind === 'reset' || (link.email !== null && (await findPerson(db, link.email)) !== undefined)
  return { ...link, hasAccount }
}

/** The existing account that a link would change. Its password has to be verified before the link is followed. */
export const accountFor = async (db: Db, link: Link, email: string | undefined): Promise<Person | undefined> =>
  link.kind === 'reset' ? undefined : findPerson(db, link.email ?? email ?? '')

export interface FollowedLink {
  link: Link
  person: Person
  /** For a password reset: what was removed. */
  recovered: Recovered | null
}

/**
 * Uses a link. Call it in a transaction. For an existing account, `verified` must be that account, with a password that
 * was checked. A reset sets the new password, removes every passkey and ends every session and pending challenge; an
 * authenticator app stays.
 */
export async function followLink(
  db: Db,
  clock: Clock,
  token: string,
  given: { name?: string; email?: string; password: string },
  verified: Person | null,
): Promise<FollowedLink> {
  const link = await readLink(db, clock, token)
  if (!(await useLink(db, link.id, clock.now()))) refuse('link_expired')
  if (link.kind === 'reset') {
    const person = await requirePerson(db, link.person_id as string)
    const recovered = await endAccess(db, person.id)
    await newPassword(db, clock, person, given.password)
    return { link, person, recovered }
  }
  const existing = await accountFor(db, link, given.email)
  if (existing && !(verified?.id === existing.id && (await isPasswordUnchanged(db, verified)))) {
    refuse('conflict', { message: 'An account with this email address exists now. Try again with its password.' })
  }
  if (existing && link.operator) await makeOperator(db, existing.id)
  const input = { email: link.email ?? given.email ?? '', name: given.name ?? '', operator: link.operator }
  const person = existing ?? (await createPerson(db, clock, { ...input, password: given.password }))
  if (link.workspace_id && link.role) await addMember(db, clock, link.workspace_id, person.id, link.role)
  return { link, person, recovered: null }
}

/** Whether the password is still the one that was checked. */
const isPasswordUnchanged = async (db: Db, verified: Person): Promise<boolean> =>
  (await holdPerson(db, verified.id)).password_hash === verified.password_hash

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
    ...input,
    id: newUuid(at.getTime()),
    digest: sha256(token),
    created_by: createdBy,
    created_at: at,
    expires_at: new Date(at.getTime() + linkLifetimeMs[input.kind]),
  })
  return token
}

export const linkUrl = (publicUrl: string, token: string): string => `${publicUrl}/link/${token}`
