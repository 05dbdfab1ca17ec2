/**
 * Emails wait in a table until the mail server has accepted them: they are added in the transaction of what they are about,
 * and any process with a worker sends them.
 */
import type { Db } from '../../db/db.ts'
import { wakeHere } from '../../db/wake.ts'
import { sha256 } from '../../lib/hash.ts'
import { newUuid } from '../../lib/ids.ts'
import { type SecretKeys, seal } from '../../lib/seal.ts'
import type { MailContent, MailKind } from './mail-kinds.ts'
import { countMail, insertMail } from './mails.sql.ts'

export {
  claimMails,
  deleteCountsBefore,
  deleteExpiredMails,
  deleteMail,
  type MailRow,
  postponeMail,
  readMailQueue,
  setMailSecret,
} from './mails.sql.ts'

const hourMs = 3_600_000

/**
 * How many emails an address gets in an hour, so that no one can use Parley to flood it. Invitations and resets are asked for
 * by people who may not know the recipient. Notifications come from the person's own workspaces, in which several endpoints
 * may fail at once.
 */
const perAddress = { invitation: 5, password_reset: 5, notification: 20 } as const

/** How many invitations by email a workspace may cause in an hour: enough for a team, too few to advertise with. */
const invitationsPerWorkspace = 50

export type NewMail = MailContent & {
  recipient: string
  /** Null for a password reset. */
  workspaceId: string | null
  /** The token of the link in it. Stored encrypted, until the email is sent. */
  secret: string | null
  /** Not sent after this. */
  expiresAt: Date
}

/** Adds an email. False if its address or its workspace has reached a limit; then nothing is added. */
export async function queueMail(db: Db, now: Date, keys: () => SecretKeys, mail: NewMail): Promise<boolean> {
  const { kind, data, recipient, workspaceId, secret, expiresAt } = mail
  const counted = countedAs(kind)
  const hour = new Date(Math.floor(now.getTime() / hourMs) * hourMs)
  const isWithin = (subject: string, max: number) =>
    countMail(db, { subject: sha256(subject), kind: counted, hour, max })
  const mayAdd =
    (await isWithin(recipient, perAddress[counted])) &&
    (kind !== 'invitation' || workspaceId === null || (await isWithin(workspaceId, invitationsPerWorkspace)))
  if (!mayAdd) {
    db.telemetry.metrics.add('mails', 'limited')
    return false
  }
  const id = newUuid(now.getTime())
  const secretSealed = secret === null ? null : seal(keys(), secret, mailSecretContext(id))
  const times = { createdAt: now, dueAt: now, expiresAt }
  await insertMail(db, { id, kind, recipient, workspaceId, data, secretSealed, ...times })
  wakeHere(db, 'mail')
  return true
}

export const mailSecretContext = (id: string): string => `mails/${id}/secret`

const countedAs = (kind: MailKind): keyof typeof perAddress =>
  kind === 'invitation' || kind === 'password_reset' ? kind : 'notification'
