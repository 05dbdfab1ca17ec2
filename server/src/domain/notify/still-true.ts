/**
 * Emails may wait for hours until the mail server accepts them. Before each attempt, the cause of an email is checked again: people
 * would look for a problem that is over, such as a webhook that works again or a key that was rotated.
 */
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { withPrefix } from '../../lib/ids.ts'
import { tokenExpiresAt } from '../connections/connections.ts'
import { readBalance } from '../credits/credits.ts'
import { expiringKeys } from '../keys/keys.ts'
import type { MailContent } from '../mail/mail-kinds.ts'
import { recipientsOf } from '../people/account/mail-choices.ts'
import { isLinkOpen } from '../people/links/links.ts'
import { failingWebhooks } from '../webhooks/webhooks.ts'
import { readSettings } from '../workspaces/settings.ts'

/** At this many failures in a row, people are notified (see the trigger `notify_failing_webhook`). */
const failuresMin = 10

/** Whether the content of an email is still true and its recipient still wants it. `secret` is the token of its link. */
export async function isStillTrue(
  db: Db,
  clock: Clock,
  recipient: string,
  content: MailContent,
  secret: string | null,
): Promise<boolean> {
  const { kind, data } = content
  if (kind === 'invitation' || kind === 'password_reset') return secret === null || isLinkOpen(db, clock, secret)
  if (!(await recipientsOf(db, data.workspace_id, kind)).includes(recipient)) return false
  switch (kind) {
    case 'webhook_failing':
    case 'webhook_disabled': {
      const failing = await failingWebhooks(db, data.workspace_id, failuresMin)
      const webhook = failing.find(({ id }) => withPrefix('whk', id) === data.webhook_id)
      return webhook !== undefined && webhook.enabled === (kind === 'webhook_failing')
    }
    case 'credits_low':
      return (await readBalance(db, data.workspace_id)) <= (await readSettings(db, data.workspace_id)).lowBalance
    case 'key_expiring':
      return (await expiringKeys(db, data.workspace_id, clock.now())).some(
        ({ id, expiresAt }) => id === data.key_id && expiresAt.toISOString() === data.expires_at,
      )
    case 'token_expiring':
      return tokenExpiresAt(db, data.connection_id, new Date(data.expires_at))
  }
}
