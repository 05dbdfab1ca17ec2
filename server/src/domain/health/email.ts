import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { MailSettings } from '../../net/mail-settings.ts'
import { checkSmtp } from '../../net/smtp.ts'
import { readMailQueue } from '../mail/outbox.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'

/** Emails are sent within seconds. */
const lateAfterMs = 15 * 60_000

/** Checks the emails that wait and, if `isOutside`, that the mail server accepts a connection and the password. */
export async function checkEmail(
  db: Db,
  clock: Clock,
  mail: MailSettings | null,
  isOutside: boolean,
): Promise<Finding> {
  const { waiting, oldestAt, error } = (await readMailQueue(db)) ?? { waiting: 0, oldestAt: null, error: null }
  if (mail === null) {
    if (waiting === 0) {
      return ok(
        'email',
        'No emails are sent, because PARLEY_SMTP_URL is not set. Invitations and resets work by links.',
      )
    }
    return warning('email', `${count(waiting, 'email')} not sent, and PARLEY_SMTP_URL is not set here.`, {
      effect: 'Another process has added them. Those without the setting do not send them.',
      remedy: 'Set PARLEY_SMTP_URL and PARLEY_MAIL_FROM in every process, or in none.',
    })
  }
  const server = `${mail.host}:${mail.port}`
  if (isOutside) {
    const fault = await checkSmtp(mail).then(
      () => null,
      ({ message }: Error) => message,
    )
    if (fault !== null) {
      return problem('email', `The mail server ${server} does not accept emails: ${fault}`, {
        effect: 'Invitations, password resets and notifications wait, and are given up after a day.',
        remedy: 'Check PARLEY_SMTP_URL, and that this machine may connect to the mail server.',
      })
    }
  }
  if (oldestAt && clock.now().getTime() - oldestAt.getTime() > lateAfterMs) {
    return warning('email', `${count(waiting, 'email')} not sent yet, the oldest since ${oldestAt.toISOString()}.`, {
      ...(error === null ? {} : { details: [`The mail server ${server}: ${error}`] }),
      remedy: 'Check that a process with the role all or worker is running, and that it reaches the mail server.',
    })
  }
  return ok('email', `Emails are sent from ${mail.from.address} by the mail server ${server}.`)
}
