/** One-time links by email, if the installation sends emails. */
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { MailSettings } from '../../lib/mail-settings.ts'
import { refuse } from '../../lib/refuse.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import { queueMail } from '../mail/outbox.ts'
import type { Invitation } from './invite.ts'
import { linkLifetimeMs } from './links.ts'
import { type Person, readEmail } from './people.ts'

export interface MailLinkDeps {
  /** Null: no emails are sent. */
  mail: MailSettings | null
  secretKeys(): SecretKeys
}

/** Sends an invitation, in the transaction that creates it. False if no emails are sent, or this one is one too many. */
export const mailInvitation = async (
  db: Db,
  clock: Clock,
  { mail, secretKeys }: MailLinkDeps,
  { email, workspaceName, token, expiresAt }: Invitation,
  { workspaceId, role, createdBy }: { workspaceId: string; role: string; createdBy: string },
): Promise<boolean> =>
  mail !== null &&
  queueMail(db, clock.now(), secretKeys, {
    kind: 'invitation',
    data: { workspace: workspaceName, inviter: createdBy, role, expires_at: expiresAt.toISOString() },
    recipient: email,
    workspaceId,
    secret: token,
    expiresAt,
  })

/** Sends a reset link that an operator created, in the transaction that creates it. */
export const mailResetLink = async (
  db: Db,
  clock: Clock,
  { mail, secretKeys }: MailLinkDeps,
  { email }: Person,
  token: string,
  expiresAt: Date,
): Promise<boolean> =>
  mail !== null &&
  queueMail(db, clock.now(), secretKeys, {
    kind: 'password_reset',
    data: { expires_at: expiresAt.toISOString() },
    recipient: email,
    workspaceId: null,
    secret: token,
    expiresAt,
  })

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
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + linkLifetimeMs.reset)
  await queueMail(db, now, secretKeys, {
    kind: 'password_reset',
    data: { expires_at: expiresAt.toISOString() },
    recipient: readEmail(text),
    workspaceId: null,
    secret: null,
    expiresAt,
  })
}
