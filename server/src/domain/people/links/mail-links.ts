/** One-time links: by email, or shown to the person who creates them if the installation sends no emails. */
import type { CreatedLink } from '@parley/contract/console/team'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse, refuseUntil } from '../../../lib/refuse.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import type { MailSettings } from '../../../net/mail-settings.ts'
import { type NewMail, queueMail } from '../../mail/outbox.ts'
import { readEmail } from '../people.ts'
import type { Invitation } from '../team/invite.ts'
import { linkLifetimeMs, linkUrl } from './links.ts'

export interface MailLinkDeps {
  /** Null: no emails are sent. */
  mail: MailSettings | null
  secretKeys(): SecretKeys
}

export type ShareDeps = MailLinkDeps & { publicUrl: string }

/** Sends or shows an invitation, in the transaction that creates it. */
export const shareInvitation = (
  db: Db,
  clock: Clock,
  deps: ShareDeps,
  { email, workspaceName, token, expiresAt }: Invitation,
  { workspaceId, role, createdBy }: { workspaceId: string; role: string; createdBy: string },
): Promise<CreatedLink> =>
  shareLink(db, clock, deps, {
    kind: 'invitation',
    data: { workspace: workspaceName, inviter: createdBy, role, expires_at: expiresAt.toISOString() },
    recipient: email,
    workspaceId,
    secret: token,
    expiresAt,
  })

/** The email with a reset link. Without a secret, the link is created when the email is sent. */
export function resetMail<Secret extends string | null>(clock: Clock, recipient: string, secret: Secret) {
  const expiresAt = new Date(clock.now().getTime() + linkLifetimeMs.reset)
  const data = { expires_at: expiresAt.toISOString() }
  return { kind: 'password_reset' as const, data, recipient, workspaceId: null, secret, expiresAt }
}

/**
 * Sends or shows a link, in the transaction that creates it. With email, only the recipient gets it: a person who has it can
 * own the account.
 */
export async function shareLink(
  db: Db,
  clock: Clock,
  { mail, secretKeys, publicUrl }: ShareDeps,
  link: NewMail & { secret: string },
): Promise<CreatedLink> {
  const expires_at = link.expiresAt.toISOString()
  if (mail === null) return { url: linkUrl(publicUrl, link.secret), expires_at, mailed: false }
  if (!(await queueMail(db, clock.now(), secretKeys, link))) {
    const hourMs = 3_600_000
    const nextHour = new Date((Math.floor(clock.now().getTime() / hourMs) + 1) * hourMs)
    refuseUntil(clock.now(), nextHour, 'Too many emails to this address or from this workspace')
  }
  return { url: null, expires_at, mailed: true }
}

/**
 * Someone forgot their password. The link is created when the email is sent: the response must not reveal, by what it says or
 * how long it takes, whether the address has an account.
 */
export async function askForReset(
  db: Db,
  clock: Clock,
  { mail, secretKeys }: MailLinkDeps,
  text: string,
): Promise<void> {
  if (mail === null) {
    refuse('conflict', { message: 'This installation sends no emails. Ask its operator for a reset link.' })
  }
  await queueMail(db, clock.now(), secretKeys, resetMail(clock, readEmail(text), null))
}
