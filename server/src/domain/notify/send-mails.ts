import type { Db } from '../../db/db.ts'
import { type Loop, startLoop } from '../../db/loop.ts'
import type { Clock } from '../../lib/clock.ts'
import { open, type SecretKeys, seal } from '../../lib/seal.ts'
import type { MailSettings } from '../../net/mail-settings.ts'
import { MailError, sendBySmtp } from '../../net/smtp.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { composeMail } from '../mail/compose.ts'
import { type MailContent, mailKinds } from '../mail/mail-kinds.ts'
import { claimMails, deleteMail, type MailRow, mailSecretContext, postponeMail, setMailSecret } from '../mail/outbox.ts'
import { findDisabled } from '../people/account/mail-choices.ts'
import { newResetLink } from '../people/links/links.ts'
import { needsPasskey } from '../people/operators/operators.ts'
import { findPerson } from '../people/people.ts'
import { isStillTrue } from './still-true.ts'

export interface MailDeps {
  db: Db
  clock: Clock
  log: Logger
  secretKeys: SecretKeys
  publicUrl: string
  settings: MailSettings
}

/** How often emails of other processes are looked for; those of this process start the loop. */
const pollMs = 2_000

/** How many are sent at the same time. A mail server may limit its connections. */
const batchSize = 4

/** Longer than sending one takes at most. Another process sends it after that. */
const leaseMs = 120_000

/** The waits between attempts: they span a day, after which most emails are of no use any more. */
const retryAfterMs = [60_000, 300_000, 900_000, 3_600_000, 10_800_000, 21_600_000, 43_200_000]

/** Sends the emails that wait. */
export function startMails(deps: MailDeps): Loop {
  const stopping = new AbortController()
  const loop = startLoop(deps, 'mail', pollMs, async () => {
    await sendDueMails(deps, stopping.signal)
  })
  return {
    async stop() {
      // An attempt that is cut off is repeated when its lease ends.
      stopping.abort()
      await loop.stop()
    },
  }
}

/** Sends all emails that are due, and returns how many it tried. */
export async function sendDueMails(deps: MailDeps, signal = new AbortController().signal): Promise<number> {
  const { db, clock } = deps
  for (let tried = 0; ; ) {
    const now = clock.now()
    const leaseUntil = new Date(now.getTime() + leaseMs)
    const claimed = signal.aborted ? [] : await claimMails(db, mailKinds, now, leaseUntil, batchSize)
    if (claimed.length === 0) return tried
    const recipients = claimed.map(({ recipient }) => recipient)
    const disabled = await findDisabled(db, recipients)
    await Promise.all(
      claimed.map((mail) =>
        mail.expiresAt <= now || disabled.has(mail.recipient) ? drop(deps, mail) : sendOne(deps, mail, signal),
      ),
    )
    tried += claimed.length
  }
}

async function sendOne(deps: MailDeps, mail: MailRow, signal: AbortSignal): Promise<void> {
  const { db, clock, log, publicUrl, settings } = deps
  const { id, recipient, kind } = mail
  try {
    const secret = await secretOf(deps, mail)
    if (secret === undefined) return await drop(deps, mail)
    // It was stored with the data of its kind.
    const content = { kind, data: mail.data } as MailContent
    if (!(await isStillTrue(db, clock, recipient, content, secret))) return await drop(deps, mail)
    await sendBySmtp(settings, { id, recipient, ...composeMail(content, secret, publicUrl) }, signal)
  } catch (error) {
    if (signal.aborted) return
    // Even if its link cannot be decrypted: the key may be added again.
    return recordFailure(deps, mail, error instanceof MailError ? error : new MailError(String(error), false))
  }
  await deleteMail(db, id)
  db.telemetry.metrics.add('mails', 'sent')
  log.info({ event: 'mail.sent', mail_id: id, kind, workspace_id: mail.workspaceId }, 'sent an email')
}

async function recordFailure({ db, clock, log }: MailDeps, mail: MailRow, error: MailError): Promise<void> {
  const { id, kind, attempts, workspaceId: workspace_id } = mail
  const fields = { mail_id: id, kind, workspace_id, attempts, error: error.message }
  const waitMs = error.isPermanent ? undefined : retryAfterMs[attempts - 1]
  if (waitMs === undefined) {
    await deleteMail(db, id)
    db.telemetry.metrics.add('mails', 'failed')
    log.error({ event: 'mail.failed', ...fields }, 'an email was given up')
    return
  }
  await postponeMail(db, id, new Date(clock.now().getTime() + waitMs), error.message)
  db.telemetry.metrics.add('mails', 'retried')
  log.warn({ event: 'mail.retried', ...fields }, 'the mail server did not accept an email')
}

/** For an email that is of no use: it is too late, no longer true or wanted, or its recipient has no account or a disabled one. */
async function drop({ db, log }: MailDeps, { id, kind, workspaceId }: MailRow): Promise<void> {
  await deleteMail(db, id)
  db.telemetry.metrics.add('mails', 'dropped')
  log.info({ event: 'mail.dropped', mail_id: id, kind, workspace_id: workspaceId }, 'an email was not sent')
}

/**
 * The token of the email's link; null if it has none. A reset that someone asked for on the sign-in page gets its link here, so
 * that the response there does not take longer for an address that has an account. Undefined if it has none.
 */
async function secretOf({ db, clock, secretKeys }: MailDeps, mail: MailRow): Promise<string | null | undefined> {
  const { id, kind, recipient, secretSealed } = mail
  if (secretSealed !== null) return open(secretKeys, secretSealed, mailSecretContext(id))
  if (kind !== 'password_reset') return null
  return db.transaction(async (tx) => {
    const person = await findPerson(tx, recipient)
    if (!person || person.disabled_at) return undefined
    if (await needsPasskey(tx, person)) return null
    const token = await newResetLink(tx, clock, person, person.email, true)
    await setMailSecret(tx, id, seal(secretKeys, token, mailSecretContext(id)))
    return token
  })
}
