import { notificationKinds } from '@parley/contract/console/notifications'
import type { Db } from '../../db/db.ts'
import { type Loop, startLoop } from '../../db/loop.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { type NewEvent, publish } from '../deliveries/engine/publish/publish.ts'
import type { MailContent } from '../mail/mail-kinds.ts'
import { type Notification, saveNotificationTimes, takeNotifications } from '../mail/notifications.ts'
import { type NewMail, queueMail } from '../mail/outbox.ts'
import { recipientsOf } from '../people/account/mail-choices.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'

/** How often the loop looks for notifications. There are few, and an empty result costs PostgreSQL little. */
const pollMs = 1_000

/** How many notifications one transaction passes on. */
const batchSize = 50

/** No email is sent about a notification that is older than a day: people have noticed its cause by then. */
const usefulForMs = 24 * 3_600_000

export interface PassOnDeps {
  db: Db
  clock: Clock
  secretKeys: () => SecretKeys
  /** Whether emails are sent. */
  sendsMail: boolean
}

/** Passes notifications on to the endpoints of their workspaces, and by email to their people. */
export function startNotifications(deps: PassOnDeps & { log: Logger }): Loop {
  return startLoop(deps, 'notifications', pollMs, async () => {
    await passOn(deps)
  })
}

type TakenNotification = Notification & { createdAt: Date }

/** Passes on all notifications, and returns how many. */
export async function passOn(deps: PassOnDeps): Promise<number> {
  const { db, clock } = deps
  for (let passedOn = 0; ; ) {
    const taken = await db.transaction(async (tx) => {
      // The code and the triggers that add them write the data of their kind.
      const notifications = (await takeNotifications(tx, notificationKinds, batchSize)) as TakenNotification[]
      await saveNotificationTimes(tx, notifications)
      await publish(tx, clock.now(), notifications.flatMap(eventOf))
      if (deps.sendsMail) await queueMails(tx, deps, notifications)
      return notifications.length
    })
    passedOn += taken
    if (taken < batchSize) return passedOn
  }
}

/** The event of a notification, if it has one. `webhook.disabled` is published when the endpoint is disabled. */
const eventOf = ({ workspaceId, kind, data }: Notification): NewEvent[] =>
  kind === 'credits_low' ? [{ workspaceId, type: 'credits.low', data }] : []

async function queueMails(tx: Db, { clock, secretKeys }: PassOnDeps, notifications: readonly Notification[]) {
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + usefulForMs)
  const mails: NewMail[] = []
  for (const { workspaceId, kind, data } of notifications) {
    const { name: workspace } = await requireWorkspace(tx, workspaceId)
    const content = { kind, data: { ...data, workspace_id: workspaceId, workspace } } as MailContent
    for (const recipient of await recipientsOf(tx, workspaceId, kind)) {
      mails.push({ ...content, recipient, workspaceId, secret: null, expiresAt })
    }
  }
  // Always in the same order, so that two processes do not wait for each other's counts.
  mails.sort((left, right) => (left.recipient < right.recipient ? -1 : 1))
  for (const mail of mails) await queueMail(tx, now, secretKeys, mail)
}
